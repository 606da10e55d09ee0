"""Uses Selenium as on a Grid, and prints what it met."""

import pathlib
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

address, site = sys.argv[1:]
options = webdriver.ChromeOptions()
options.enable_bidi = True
options.enable_downloads = True
driver = webdriver.Remote(command_executor=address, options=options)
try:
    wait = WebDriverWait(driver, 30)
    driver.get(site)
    driver.find_element(By.ID, "name").send_keys("Ann")
    driver.find_element(By.TAG_NAME, "button").click()
    dialog = driver.switch_to.alert
    print(dialog.text)
    dialog.accept()
    lines = []
    driver.script.add_console_message_handler(lines.append)
    driver.execute_script("console.log('from the page')")
    wait.until(lambda _: lines)
    print(lines[0].text)
    with tempfile.TemporaryDirectory() as folder:
        letter = pathlib.Path(folder, "letter.txt")
        letter.write_text("hello", encoding="utf-8")
        driver.find_element(By.ID, "file").send_keys(str(letter))
        print(driver.title)
        driver.find_element(By.LINK_TEXT, "report").click()
        wait.until(lambda _: "report.csv" in driver.get_downloadable_files())
        driver.download_file("report.csv", folder)
        print(pathlib.Path(folder, "report.csv").read_text(encoding="utf-8"), end="")
finally:
    driver.quit()
