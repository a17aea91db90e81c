"""Speed, memory and size, each beside a peer or a floor in the same run. Run `./dev bench`."""
