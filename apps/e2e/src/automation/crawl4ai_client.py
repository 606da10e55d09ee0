"""Crawls pages of a site with crawl4ai. Arguments: the address of the browser, and the address of the site."""

import asyncio
import sys

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig

address, site = sys.argv[1:]


async def main():
    browser = BrowserConfig(cdp_url=address, cdp_cleanup_on_close=True, verbose=False)
    run = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, wait_for="css:h1", screenshot=True, verbose=False)
    async with AsyncWebCrawler(config=browser) as crawler:
        results = await crawler.arun_many([f"{site}?page={page}" for page in ("tea", "kettles")], config=run)
        for result in sorted(results, key=lambda each: each.url, reverse=True):
            assert result.success, result.error_message
            print(result.markdown.strip().splitlines()[0], [link["text"] for link in result.links["internal"]])
            assert len(result.screenshot) > 1000

        # A page that stays open between two calls.
        clicked = await crawler.arun(f"{site}?page=tea", config=run.clone(session_id="cart"))
        assert clicked.success, clicked.error_message
        script = "document.querySelector('button').click()"
        # It runs the script after the wait.
        later = run.clone(session_id="cart", js_only=True, js_code=script, wait_for=None)
        result = await crawler.arun(f"{site}?page=tea", config=later)
        assert result.success, result.error_message
        print("1 in the cart" in result.markdown)


asyncio.run(main())
