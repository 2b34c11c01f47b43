"""Figures as inline SVG: numbers in, markup out; colours come from the page's style sheet."""
