"""The fork study: is the call that failed less likely, and the later repair more, with a text, and where must it stand?"""
