/** Loaded with the first request; one file of the built program. */
export { runCurl } from "./curl.ts";
export { CurlBrowser } from "./curl-browser.ts";
export { serveRaw } from "./raw.ts";
