"""Pictures: geometry in, geometry out. They know no request and no database."""
