import * as z from "zod/mini";
import { templateProblem } from "../exits.ts";
import { endpointUrl, httpUrl, integer, optionalSetting, setting, text } from "./setting.ts";

const proxyTemplate = text.check(
  z.refine((value) => templateProblem(value) === undefined, {
    error: ({ input }) => templateProblem(String(input)) ?? "",
  }),
);

export const providers = {
  proxy_datacenter: optionalSetting({
    schema: proxyTemplate,
    summary:
      "Provider of proxies of type datacenter: an http, https or socks5 URL. `{country}` and `{session_id}` are replaced by their values.",
    default: "none",
    secret: true,
  }),
  proxy_isp: optionalSetting({
    schema: proxyTemplate,
    summary: "Provider of proxies of type isp, as for proxy_datacenter.",
    default: "none",
    secret: true,
  }),
  proxy_residential: optionalSetting({
    schema: proxyTemplate,
    summary:
      "Provider of proxies of type residential, as for proxy_datacenter; also with `{city}`, `{state}`, `{zip}` and `{asn}`. A part in square brackets is removed if its value is missing.",
    default: "none",
    secret: true,
  }),
  proxy_mobile: optionalSetting({
    schema: proxyTemplate,
    summary: "Provider of proxies of type mobile, as for proxy_datacenter; also with `{city}` and `{state}`.",
    default: "none",
    secret: true,
  }),
  proxy_check_url: setting({
    schema: httpUrl,
    summary: "Page that checks of proxies fetch. It answers with the address of the caller, as text or as JSON.",
    fallback: "https://api.ipify.org/?format=json",
  }),
  github_api_url: setting({
    schema: httpUrl,
    summary: "API of GitHub, or of a GitHub Enterprise server, that sources of apps are fetched from.",
    fallback: "https://api.github.com",
  }),
  chrome_store_url: setting({
    schema: httpUrl,
    summary: "URL from which packages of the Chrome Web Store are downloaded.",
    fallback: "https://clients2.google.com/service/update2/crx",
  }),
  search_searxng_url: optionalSetting({
    schema: endpointUrl,
    summary:
      "Address of a SearXNG instance that answers searches, with its path prefix; `json` must be one of its `search.formats`. It may be private.",
    default: "none",
  }),
  search_brave_key: optionalSetting({
    schema: text.check(
      z.refine((value) => /^[\x21-\x7e]{1,500}$/.test(value), "must be printable characters without spaces"),
    ),
    summary: "Key of the Brave Search API, which answers searches if SearXNG is absent or fails.",
    default: "none",
    secret: true,
  }),
  search_brave_url: setting({
    schema: endpointUrl,
    summary: "Address of the Brave Search API.",
    fallback: "https://api.search.brave.com",
  }),
  search_per_minute: setting({
    schema: integer(0, 100_000),
    summary: "Searches of one project in a minute on each server, 0 to 100000; 0 = no limit.",
    fallback: 60,
    live: true,
  }),
};
