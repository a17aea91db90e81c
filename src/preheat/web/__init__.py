"""The pages that `preheat open` shows in a browser: sessions, mistakes, lessons, what runs now, whether any of it helped."""
