const { root = "" } = document.documentElement.dataset;

/** Address of the site, with a slash at its end. */
export const siteUrl = new URL(root === "" ? "./" : root, location.href);

/** Address of the service without a trailing slash. */
export const serviceUrl = new URL("..", siteUrl).href.replace(/\/$/, "");

/** Key in the storage of the tab: the project of requests, by id or name. */
export const projectKey = "shoal-docs-project";
