"""For tests of programs that use Preheat: transcript builders, a scripted model server, stand-ins for hook client and daemon."""
