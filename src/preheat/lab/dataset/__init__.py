"""What people may publish of their sessions: numbers and forms that name nobody. Pure: values in, values out.

Knows no archive and no file. What may stay is decided twice: by what a text looks like or names (`anonymise`), and by the
number of projects that share it (`vocabulary`); `leaks` searches the result for what got through all the same.
"""
