/** A hint for operators. */
export const howToInstall =
  "Install one on the server (Debian: apt-get install chromium; or Google Chrome; or npx @puppeteer/browsers install chrome@stable) and start the service again";
