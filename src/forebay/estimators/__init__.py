"""What is believed between scrapes: own work in flight, speeds, sizes, and what each endpoint holds in its caches.

Own work is exact and instant, scraped values carry their age, unknown is never zero. Pure: told everything by the
conductor, each with its `at`. This room knows neither policies nor breakers.
"""
