import * as z from "zod/mini";
import { templateProblem } from "../exits.ts";
import { httpUrl, optionalSetting, setting, text } from "./setting.ts";

const proxyTemplate = text.check(
  z.refine((value) => templateProblem(value) === undefined, {
    error: ({ input }) => templateProblem(String(input)) ?? "",
  }),
);

export const providers = {
  proxy_datacenter: optionalSetting({
    kind: "text",
    schema: proxyTemplate,
    summary:
      "Provider behind proxies of type datacenter: an http, https or socks5 URL with `{country}` and `{session_id}` to be filled in.",
    default: "none",
    secret: true,
  }),
  proxy_isp: optionalSetting({
    kind: "text",
    schema: proxyTemplate,
    summary: "Likewise behind proxies of type isp.",
    default: "none",
    secret: true,
  }),
  proxy_residential: optionalSetting({
    kind: "text",
    schema: proxyTemplate,
    summary:
      "Likewise behind proxies of type residential; also `{city}`, `{state}`, `{zip}`, `{asn}`. A part in square brackets goes when its value is absent.",
    default: "none",
    secret: true,
  }),
  proxy_mobile: optionalSetting({
    kind: "text",
    schema: proxyTemplate,
    summary: "Likewise behind proxies of type mobile; also `{city}`, `{state}`.",
    default: "none",
    secret: true,
  }),
  proxy_check_url: setting({
    kind: "text",
    schema: httpUrl,
    summary:
      "Page that checks of proxies fetch: it answers with the address that it was asked from, as text or as JSON.",
    fallback: "https://api.ipify.org/?format=json",
  }),
  github_api_url: setting({
    kind: "text",
    schema: httpUrl,
    summary: "API of GitHub, or of a GitHub Enterprise server, that sources of apps are fetched from.",
    fallback: "https://api.github.com",
  }),
  chrome_store_url: setting({
    kind: "text",
    schema: httpUrl,
    summary: "URL from which packages of the Chrome Web Store are downloaded.",
    fallback: "https://clients2.google.com/service/update2/crx",
  }),
};
