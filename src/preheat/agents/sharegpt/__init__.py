"""ShareGPT conversations, the form in which training data is passed around; calls stand as tags in the text."""
