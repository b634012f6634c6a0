"""python -m rulerank is the command line."""

from rulerank.cli import main

if __name__ == "__main__":
    main()
