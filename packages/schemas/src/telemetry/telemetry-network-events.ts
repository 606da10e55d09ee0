import * as z from "zod/mini";
import { openEnum } from "../base/schema.ts";
import { contextFields, telemetryEvent } from "./telemetry-parts.ts";

/** A request was sent. */
export interface NetworkRequestEvent extends z.output<typeof NetworkRequestEvent> {}
export const NetworkRequestEvent = telemetryEvent("network_request", "network", () => ({
  ...contextFields(),
  /** Names the request in all of its events. */
  request_id: z.optional(z.string()),
  /** HTTP method. */
  method: z.optional(z.string()),
  /** The requesting document. */
  document_url: z.optional(z.string()),
  /** Header fields, as the browser reports them. */
  headers: z.optional(z.record(z.string(), z.unknown())),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
  /** As CDP names it: `script`, `parser`, `preload`, `other`, … */
  initiator_type: z.optional(z.string()),
  /** The request body, if it is text. */
  post_data: z.optional(z.string()),
  /** Whether a redirect led to it. */
  is_redirect: z.optional(z.boolean()),
  /** The address before the redirect. */
  redirect_url: z.optional(z.string()),
}));

/** An answer is complete, or it redirects: then the request that follows has the same `request_id`. */
export interface NetworkResponseEvent extends z.output<typeof NetworkResponseEvent> {}
export const NetworkResponseEvent = telemetryEvent("network_response", "network", () => ({
  ...contextFields(),
  /** Names the request in all of its events. */
  request_id: z.optional(z.string()),
  /** HTTP method. */
  method: z.optional(z.string()),
  /** HTTP status. */
  status: z.optional(z.int()),
  /** Text after the status. */
  status_text: z.optional(z.string()),
  /** Header fields, as the browser reports them. */
  headers: z.optional(z.record(z.string(), z.unknown())),
  /** Type of the content. */
  mime_type: z.optional(z.string()),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
  /** Whether it redirects to another request. */
  is_redirect: z.optional(z.boolean()),
  /** The body where it is text: at most 8 kB of JSON, XML and forms, 4 kB of other text. */
  body: z.optional(z.string()),
}));

/** A request failed. */
export interface NetworkLoadingFailedEvent extends z.output<typeof NetworkLoadingFailedEvent> {}
export const NetworkLoadingFailedEvent = telemetryEvent("network_loading_failed", "network", () => ({
  ...contextFields(),
  /** Names the request in all of its events. */
  request_id: z.optional(z.string()),
  /** Chromium's name for the failure: `net::ERR_CONNECTION_REFUSED`. */
  error_text: z.optional(z.string()),
  /** Whether the page or the user gave it up. */
  canceled: z.optional(z.boolean()),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
}));

/** Nothing was in flight for 500 ms. */
export interface NetworkIdleEvent extends z.output<typeof NetworkIdleEvent> {}
export const NetworkIdleEvent = telemetryEvent("network_idle", "network", contextFields);

/** The session's proxy could not serve a request. */
export interface ProxyErrorEvent extends z.output<typeof ProxyErrorEvent> {}
export const ProxyErrorEvent = telemetryEvent("proxy_error", "network", () => ({
  ...contextFields(),
  /** The problem. */
  code: openEnum(
    "destination_blocked",
    "destination_route_unavailable",
    "network_policy_denied",
    "not_in_recording",
    "provider_blacklisted",
    "provider_unreachable",
    "proxy_unavailable",
    "upstream_timeout",
    "upstream_dns_failure",
    "upstream_connect_failed",
  ),
  /** Names the request in all of its events. */
  request_id: z.string(),
  /** 403 with `network_policy_denied`, else 502: no answer of the site. */
  status: z.int(),
  /** HTTP method. */
  method: z.optional(z.string()),
  /** As CDP names it: `Document`, `Script`, `XHR`, … */
  resource_type: z.optional(z.string()),
}));

/** A rule of the session or its project refused a connection of the browser or of a program. At most one event for each host and rule in 10 seconds, and 100 in total. */
export interface NetworkRefusedEvent extends z.output<typeof NetworkRefusedEvent> {}
export const NetworkRefusedEvent = telemetryEvent("network_refused", "network", () => ({
  /** Name or address of the refused host. */
  host: z.string(),
  /** Port of the refused connection. */
  port: z.int(),
  /** Whose rules refused it. */
  rules_of: openEnum("session", "project"),
  /** `deny`: an entry refused it. `allow`, `allowed_hosts`: no entry allowed it. */
  list: openEnum("allow", "deny", "allowed_hosts"),
  /** The entry of `deny`. */
  rule: z.optional(z.string()),
  /** Refused connections since the last event with this host and rule. */
  count: z.int(),
}));
