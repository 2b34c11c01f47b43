"""One model of a campaign's answer and its views: text, html, json, markdown and csv."""
