import * as z from "zod/mini";
import { isAddressRange } from "../trusted-proxies.ts";
import { defaultRegion } from "./defaults.ts";
import { endpointUrl, httpUrl, integer, optionalSetting, setting, text } from "./setting.ts";

export const network = {
  host: setting({
    schema: text,
    summary: "Address to listen on. Beyond loopback only with the sandbox placement, or with unsafe_no_isolation.",
    fallback: "127.0.0.1",
  }),
  port: setting({
    schema: integer(0, 65_535),
    summary: "Port to listen on, 0 to 65535; 0 takes a free one.",
    fallback: 7777,
  }),
  public_url: optionalSetting({
    schema: endpointUrl,
    summary: "Public URL of the service behind a reverse proxy, with its path prefix: https://shoal.example/api.",
    default: "from the headers of trusted proxies, or else the address of each request",
  }),
  content_url: optionalSetting({
    schema: httpUrl.check(
      z.refine(
        (value) => new URL(value).href === `${new URL(value).origin}/`,
        "must be an origin without a path, such as https://content.shoal.example",
      ),
    ),
    summary:
      "Separate origin for session content, such as https://content.shoal.example: addresses below base_url are served there and nowhere else, and the service's own pages and the API are not. The proxy must pass the Host header, or be one of trusted_proxies.",
    default: "none, session content is served at the service's address, in a sandbox",
  }),
  trusted_proxies: setting({
    schema: z.array(text.check(z.refine(isAddressRange, "must be addresses or CIDR ranges such as 10.0.0.0/8"))),
    summary:
      "Addresses or CIDR ranges of trusted reverse proxies. Their headers set the client's address, scheme, host and path prefix.",
    fallback: [],
    default: "none",
  }),
  trusted_proxy_headers: setting({
    schema: z.enum(["x-forwarded", "forwarded"]),
    summary: "What those proxies set: x-forwarded (X-Forwarded-For, -Proto, -Host, -Prefix) or forwarded (RFC 7239).",
    fallback: "x-forwarded",
  }),
  replica_url: optionalSetting({
    schema: httpUrl,
    summary: "Address at which the other servers of the same database reach this one, without a path.",
    default: "the address of --host; if that is every address, the first one of the machine",
  }),
  region: setting({
    schema: text.check(
      z.refine((value) => /^[A-Za-z0-9-]{1,63}$/.test(value), "must be 1 to 63 letters, digits and hyphens"),
    ),
    summary:
      "Name of this server's location, 1 to 63 letters, digits and hyphens: us-east. Sessions and pools can request a region; the servers of one database may be in several.",
    fallback: defaultRegion,
    default: "default",
  }),
};
