import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

/** The service reads at most this many bytes of an outline. */
export const maxOutlineBytes = 512 * 1024;
/** Most nodes and frames of an outline. */
export const maxOutlineNodes = 1_500;
export const maxOutlineFrames = 100;
/** Longest text of a node, in characters. */
export const maxOutlineText = 400;

const Ref = checked(z.string(), z.regex(/^e[0-9]{1,12}$/));
const Pixels = z.int();
const Hosts = checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.maxLength(200));
/** For stored values. Narrower than `hosts`: see {@link isAmongOrigins}. */
const Origins = checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(300))), z.maxLength(400));
/** Longest value to fill in, in characters. */
const Value = checked(z.string(), z.maxLength(4096));
const Address = checked(z.string(), z.minLength(1), z.maxLength(8192));

export interface OutlineFrame extends z.output<typeof OutlineFrame> {}
export const OutlineFrame = lazyObject(() => ({
  /** Position in `frames`; `null` for the page. */
  parent: z.nullable(z.int()),
  /** Host of the frame's origin, without a port; empty for an opaque origin. */
  host: z.string(),
  url: z.string(),
  title: z.string(),
  /** In CSS pixels of the page's viewport. */
  width: Pixels,
  height: Pixels,
}));

export interface OutlineNode extends z.output<typeof OutlineNode> {}
export const OutlineNode = lazyObject(() => ({
  /** Valid until the next outline, or until its frame navigates. */
  ref: Ref,
  /** Position in `frames`. */
  frame: z.int(),
  /** Position in `nodes` of the closest surrounding node; -1 at the top of a frame. */
  parent: z.int(),
  /** Role of the accessibility tree: `textbox`, `button`, `heading`, `dialog`; `text` for text without a control. */
  role: z.string(),
  /** Accessible name, or the text. */
  name: z.string(),
  tag: z.string(),
  /** Attributes that tell the meaning of a control; never `value`. */
  attributes: z.record(z.string(), z.string()),
  /** `filled` replaces the value, which is never included. */
  states: z.array(
    z.enum(["checked", "disabled", "filled", "focused", "invalid", "readonly", "required", "selected", "busy"]),
  ),
  /** Why a person cannot see or use it. */
  hidden: z.optional(z.enum(["not_shown", "small", "transparent", "off_screen", "aria_hidden", "covered"])),
  /** In CSS pixels of the page's viewport. */
  box: z.object({ x: Pixels, y: Pixels, width: Pixels, height: Pixels }),
  /** Labels of a list's options. */
  options: z.optional(z.array(z.string())),
}));

/** The visible content of the front page, with its frames and shadow roots. Contains no values of fields. */
export interface PageOutline extends z.output<typeof PageOutline> {}
export const PageOutline = lazyObject(() => ({
  frames: checked(z.array(OutlineFrame), z.maxLength(maxOutlineFrames)),
  /** In the order of the document, surrounding nodes first. */
  nodes: checked(z.array(OutlineNode), z.maxLength(maxOutlineNodes)),
  /** Number of nodes left out because of limits. */
  left_out: z.int(),
  viewport: z.object({ width: Pixels, height: Pixels }),
}));

/** `hosts` are names, or `*.example.com` for all names below one. Values are never logged or stored. */
export type PageAct = z.output<typeof PageAct>;
export const PageAct = z.lazy(() =>
  z.discriminatedUnion("kind", [
    /**
     * Replaces the value of a field, if the host of its frame is one of `hosts` at that moment. Pictures of the page
     * show dots in its place, unless `visible` says that it is not secret.
     */
    z.object({
      kind: z.literal("fill"),
      ref: Ref,
      value: Value,
      hosts: Hosts,
      origins: z.optional(Origins),
      visible: z.optional(z.boolean()),
    }),
    z.object({ kind: z.literal("click"), ref: Ref }),
    /** An X11 key or chord for the focused element: `Return`. */
    z.object({ kind: z.literal("press"), key: checked(z.string(), z.minLength(1), z.maxLength(64)) }),
    z.object({ kind: z.literal("check"), ref: Ref, checked: z.boolean() }),
    /** Selects the option with this label or value. */
    z.object({ kind: z.literal("select"), ref: Ref, option: Value, origins: z.optional(Origins) }),
    z.object({ kind: z.literal("goto"), url: Address, hosts: Hosts }),
    /** Loads the page again and answers its HTTP authentication once. */
    z.object({
      kind: z.literal("authenticate"),
      username: Value,
      password: Value,
      hosts: Hosts,
      origins: z.optional(Origins),
    }),
  ]),
);

export interface PageActResult extends z.output<typeof PageActResult> {}
export const PageActResult = lazyObject(() => ({
  /**
   * `partly`: the field took only a part of the value. `replaced`: the element has gone. `refused_host`: the host is
   * not in `hosts`. `unusable`: disabled, read-only or of another kind.
   */
  outcome: z.enum(["done", "partly", "replaced", "refused_host", "covered", "unusable", "unreachable"]),
  /** For `refused_host`, the host; for `unreachable`, the reason. */
  detail: z.optional(z.string()),
}));

export interface SettlePage extends z.output<typeof SettlePage> {}
export const SettlePage = lazyObject(() => ({
  /** Milliseconds without navigation, request or change of the document that end the wait. */
  quiet_ms: checked(z.int(), z.minimum(0), z.maximum(5_000)),
  /** Longest wait in milliseconds. */
  timeout_ms: checked(z.int(), z.minimum(0), z.maximum(8_000)),
}));

/** What happened on the front page since the last act. */
export interface SettledPage extends z.output<typeof SettledPage> {}
export const SettledPage = lazyObject(() => ({
  quiet: z.boolean(),
  url: z.string(),
  host: z.string(),
  /** Status of the present document's response, if it was seen. */
  status: z.optional(z.int()),
  /** Addresses of the main frame since the last act. */
  navigations: z.array(z.string()),
  /** Since the last act: documents, `fetch` and `XMLHttpRequest` of all frames. */
  requests: z.array(z.object({ method: z.string(), host: z.string(), path: z.string(), status: z.int() })),
  /** Dialogs since the last act; they are answered. */
  dialogs: z.array(z.object({ type: z.string(), message: z.string() })),
  /** Calls of `navigator.credentials.get` with `publicKey` since the last act. */
  passkey_calls: z.array(z.object({ mediation: z.string() })),
  /** HTTP authentication that was requested since the last act, and not answered. */
  challenge: z.optional(
    z.object({ host: z.string(), origin: z.optional(z.string()), scheme: z.string(), realm: z.string() }),
  ),
  /** Names of cookies that appeared or changed since the last act. */
  changed_cookies: z.array(z.object({ name: z.string(), http_only: z.boolean() })),
}));

/** Whether a host is one of `hosts`: exact names, or `*.example.com` for all names below one. */
export function isAmongHosts(host: string, hosts: readonly string[]): boolean {
  if (host === "") return false;
  return hosts.some((allowed) => (allowed.startsWith("*.") ? host.endsWith(allowed.slice(1)) : host === allowed));
}

/**
 * Whether an origin is one of `origins`, which are exact (`https://example.com`) or stand for all names below one
 * (`https://*.example.com`). An entry without a port stands for every port.
 */
export function isAmongOrigins(origin: string, origins: readonly string[]): boolean {
  const url = URL.parse(origin);
  if (url === null || url.hostname === "") return false;
  return origins.some((allowed) => {
    const [, protocol = "", host = "", port] = /^(https?:)\/\/(.*?)(?::(\d+))?$/.exec(allowed) ?? [];
    const ownPort = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
    return protocol === url.protocol && isAmongHosts(url.hostname, [host]) && (port === undefined || port === ownPort);
  });
}
