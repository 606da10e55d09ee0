"""Uses pydoll with a session: connects to an address of CDP, opens a tab, and prints what it met."""

import asyncio
import sys

from pydoll.browser.chromium import Chrome

address, site = sys.argv[1:]


async def main():
    browser = Chrome()
    tab = await browser.connect(address)
    await tab.go_to(site)
    print(await tab.title())
    second = await browser.new_tab(site)
    name = await second.query("#name")
    await name.insert_text("Ann")
    await (await second.query("button")).click()
    print(await second.title())
    await second.close()
    print(len(await browser.get_opened_tabs()))
    await browser.close()


asyncio.run(main())
