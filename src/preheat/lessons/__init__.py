"""What past sessions teach: ten learners (`learners.py`), each two pure functions (`learner.py`). Knows no archive."""
