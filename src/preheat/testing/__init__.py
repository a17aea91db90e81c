"""What tests run against: a scripted model server and the real agent programs."""
