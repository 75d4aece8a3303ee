"""`python -m litmus_client` is `litmus`."""

from litmus_client.cli import main

if __name__ == "__main__":
    main()
