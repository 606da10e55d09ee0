import * as z from "zod/mini";
import { SlugName } from "../base/common.ts";
import { printFields } from "../base/print-fields.ts";
import { checked, lazyObject } from "../base/schema.ts";
import { BrowserProxyConfig } from "../sessions/browser-network.ts";
import { PageDialog } from "./page.ts";
import { exactlyOne, rule } from "../base/rules.ts";

const maxRenderCharacters = 5_000_000;

const Selector = () => checked(z.string(), z.minLength(1), z.maxLength(2000));
const Pixels = () => checked(z.int(), z.minimum(1), z.maximum(7680));

/** Conditions before a page is read, one after another. */
export interface RenderWait extends z.input<typeof RenderWait> {}
export const RenderWait = lazyObject(() => ({
  /** CSS selector of an element. It also finds elements in open shadow roots. */
  selector: z.optional(Selector()),
  /** State of the element: `visible`, `hidden` (or absent), or `attached` (in the document). */
  state: z._default(z.enum(["visible", "hidden", "attached"]), "visible"),
  /** A text that appears; case and white space do not matter. */
  text: z.optional(checked(z.string(), z.minLength(1), z.maxLength(2000))),
  /** Milliseconds to wait at last, 0 to 60,000. */
  time_ms: z.optional(checked(z.int(), z.minimum(0), z.maximum(60_000))),
}));

/** A cookie for a page. */
export interface RenderCookie extends z.input<typeof RenderCookie> {}
export const RenderCookie = lazyObject(() => ({
  /** Its name. */
  name: checked(z.string(), z.minLength(1), z.maxLength(1000)),
  /** Its value. */
  value: checked(z.string(), z.maxLength(4096)),
  /** Its domain; the host of `url` when absent. */
  domain: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Its path; `/` when absent. */
  path: z.optional(checked(z.string(), z.minLength(1), z.maxLength(1000))),
  /** Only over https. */
  secure: z.optional(z.boolean()),
  /** Hidden from scripts. */
  http_only: z.optional(z.boolean()),
  /** Whether requests from other sites carry it. */
  same_site: z.optional(z.enum(["Strict", "Lax", "None"])),
}));

/** The size of a page. */
export interface RenderViewport extends z.input<typeof RenderViewport> {}
export const RenderViewport = lazyObject(() => ({
  /** CSS pixels, 1 to 7680. */
  width: Pixels(),
  /** CSS pixels, 1 to 7680. */
  height: Pixels(),
  /** Pixels of a picture for each CSS pixel, 0.1 to 4. */
  scale: z._default(checked(z.number(), z.minimum(0.1), z.maximum(4)), 1),
}));

/** User name and password for HTTP authentication. */
export interface RenderAuth extends z.input<typeof RenderAuth> {}
export const RenderAuth = lazyObject(() => ({
  /** The user name. */
  username: checked(z.string(), z.maxLength(1000)),
  /** The password. */
  password: checked(z.string(), z.maxLength(1000)),
}));

/** Options of the picture of a rendered page. */
export interface RenderScreenshot extends z.input<typeof RenderScreenshot> {}
export const RenderScreenshot = lazyObject(() => ({
  /** The whole page instead of its visible part. */
  full_page: z._default(z.boolean(), false),
  /** Only the first element with this CSS selector. */
  selector: z.optional(Selector()),
  /** The file format. */
  format: z._default(z.enum(["png", "jpeg", "webp"]), "png"),
  /** Quality of `jpeg` and `webp`, 1 to 100. */
  quality: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 80),
  /** Shrink wider pictures to this width in pixels, 100 to 16,384. */
  max_width: z.optional(checked(z.int(), z.minimum(100), z.maximum(16_384))),
  /** Leave out the white background of a page without one: for `png` and `webp`. */
  omit_background: z._default(z.boolean(), false),
}));

/** Options of the Markdown of a rendered page. */
export interface RenderMarkdown extends z.input<typeof RenderMarkdown> {}
export const RenderMarkdown = lazyObject(() => ({
  /** `main`: the main text; `all`: the whole page. */
  content: z._default(z.enum(["main", "all"]), "main"),
  /** Limit of the estimated tokens, 100 to 100,000. */
  max_tokens: z._default(checked(z.int(), z.minimum(100), z.maximum(100_000)), 100_000),
  /** Include the addresses of links and images. */
  links: z._default(z.boolean(), true),
  /** Only the first element with this CSS selector. */
  selector: z.optional(Selector()),
}));

/** Options of the outline of a rendered page. */
export interface RenderOutline extends z.input<typeof RenderOutline> {}
export const RenderOutline = lazyObject(() => ({
  /** Limit of the estimated tokens, 100 to 100,000. The visible part of the page comes first. */
  max_tokens: z._default(checked(z.int(), z.minimum(100), z.maximum(100_000)), 4000),
}));

/** Options of a PDF of a rendered page. */
export interface RenderPdf extends z.input<typeof RenderPdf> {}
export const RenderPdf = lazyObject(printFields);

/** The profile that a page is rendered with, by id or by name. */
export interface RenderProfile extends z.input<typeof RenderProfile> {}
export const RenderProfile = z.lazy(() =>
  checked(
    z.object({
      /** The profile's id; pass either this or `name`. */
      id: z.optional(z.string()),
      /** The profile's name; pass either this or `id`. */
      name: z.optional(SlugName),
    }),
    exactlyOne("id", "name"),
  ),
);

const pageFields = () => ({
  /** The address: without a scheme https, or http for hosts of this machine and of private networks; only http and https. Give either this or `html`. */
  url: z.optional(checked(z.string(), z.minLength(1), z.maxLength(8192))),
  /** HTML to render instead of an address, at most 5,000,000 characters. */
  html: z.optional(checked(z.string(), z.minLength(1), z.maxLength(maxRenderCharacters))),
  /** Size of the page; that of new sessions when absent. */
  viewport: z.optional(RenderViewport),
  /** Request headers, at most 50. Only the origin of `url` receives them. */
  headers: z.optional(
    z.record(
      checked(z.string(), z.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/)),
      // oxlint-disable-next-line no-control-regex -- they are what it refuses
      checked(z.string(), z.regex(/^[^\r\n\x00]*$/), z.maxLength(8192)),
    ),
  ),
  /** Cookies, at most 100. */
  cookies: z.optional(checked(z.array(RenderCookie), z.maxLength(100))),
  /** For HTTP authentication by the origin of `url`. */
  http_auth: z.optional(RenderAuth),
  /** The `User-Agent`. */
  user_agent: z.optional(checked(z.string(), z.minLength(1), z.maxLength(1000), z.regex(/^[\x20-\x7e]+$/))),
  /** Whether scripts of the page run. */
  javascript: z._default(z.boolean(), true),
  /** The style sheets to use: for a screen or for printing. Default: `screen`, and `print` for a PDF. */
  media: z.optional(z.enum(["screen", "print"])),
  /** Parts that are not loaded. */
  block: z.optional(checked(z.array(z.enum(["image", "font", "stylesheet", "script", "media"])), z.maxLength(10))),
});

const waitFields = () => ({
  /**
   * The state of loading to wait for. `network_almost_idle`: at most two connections for half a second; `network_idle`: no
   * connection.
   */
  wait_until: z._default(z.enum(["domcontentloaded", "load", "network_almost_idle", "network_idle"]), "load"),
  /** Wait for this afterwards. */
  wait_for: z.optional(RenderWait),
  /** Limit for everything in milliseconds, also for a free place, 1,000 to 120,000. */
  timeout_ms: z._default(checked(z.int(), z.minimum(1_000), z.maximum(120_000)), 30_000),
  /** Read the page as it is when its loading or `wait_for` takes too long; `timed_out` then reports it. */
  best_attempt: z._default(z.boolean(), false),
});

const sessionFields = () => ({
  /** What its traffic leaves by: a proxy by id or by name, or none. */
  proxy: z.optional(BrowserProxyConfig),
  /** Cookies and storage of this profile. It stays as it was. */
  profile: z.optional(RenderProfile),
  /** Hide the signs of automation. */
  stealth: z.optional(z.boolean()),
});

const outputFields = () => ({
  /** What to return, in addition to outputs with options below. `markdown` when nothing is named. */
  outputs: z.optional(
    checked(
      z.array(z.enum(["html", "markdown", "text", "links", "outline", "screenshot", "pdf"])),
      z.minLength(1),
      z.maxLength(7),
    ),
  ),
  /** Options of `markdown`. */
  markdown: z.optional(RenderMarkdown),
  /** Options of `outline`. */
  outline: z.optional(RenderOutline),
  /** Options of `screenshot`. */
  screenshot: z.optional(RenderScreenshot),
  /** Options of `pdf`. */
  pdf: z.optional(RenderPdf),
  /** CSS selectors, at most 50: the answer describes the matching elements, at most 200 of each. */
  elements: z.optional(checked(z.array(Selector()), z.minLength(1), z.maxLength(50))),
});

/** A page to render, without a session. */
export interface RenderPage extends z.input<typeof RenderPage> {}
export const RenderPage = z.lazy(() =>
  checked(
    z.object({ ...pageFields(), ...waitFields(), ...outputFields(), ...sessionFields() }),
    exactlyOne("url", "html"),
    rule(
      (page) => page.html === undefined || (page.headers ?? page.http_auth) === undefined,
      "headers and http_auth need url",
      {
        keywords: {
          if: { required: ["html"] },
          then: { not: { anyOf: [{ required: ["headers"] }, { required: ["http_auth"] }] } },
        },
      },
    ),
    rule((page) => Object.keys(page.headers ?? {}).length <= 50, "headers must be at most 50", {
      keywords: { allOf: [{ properties: { headers: { maxProperties: 50 } } }] },
    }),
  ),
);

/** A redirect. */
export interface RenderRedirect extends z.output<typeof RenderRedirect> {}
export const RenderRedirect = lazyObject(() => ({
  /** The address that redirected. */
  url: z.string(),
  /** HTTP status of its response. */
  status: z.int(),
}));

/** A link of a page. */
export interface RenderedLink extends z.output<typeof RenderedLink> {}
export const RenderedLink = lazyObject(() => ({
  /** Its address. */
  url: z.string(),
  /** Its text, at most 500 characters. */
  text: z.string(),
}));

/** An element of a page. */
export interface RenderedElement extends z.output<typeof RenderedElement> {}
export const RenderedElement = lazyObject(() => ({
  /** Its text, as shown. */
  text: z.string(),
  /** The HTML inside it. */
  html: z.string(),
  /** Its attributes. */
  attributes: z.record(z.string(), z.string()),
  /** CSS pixels from the left edge of the page. */
  x: z.number(),
  /** CSS pixels from the top of the page. */
  y: z.number(),
  /** CSS pixels. */
  width: z.number(),
  /** CSS pixels. */
  height: z.number(),
}));

/** The elements of a selector. */
export interface RenderedElements extends z.output<typeof RenderedElements> {}
export const RenderedElements = lazyObject(() => ({
  /** The selector of the request. */
  selector: z.string(),
  /** The matching elements, in the order of the document. */
  results: z.array(RenderedElement),
}));

/** A picture or a document. */
export interface RenderedFile extends z.output<typeof RenderedFile> {}
export const RenderedFile = lazyObject(() => ({
  /** `image/png`, `image/jpeg`, `image/webp` or `application/pdf`. */
  content_type: z.string(),
  /** The bytes, in base64. */
  data: z.string(),
}));

/** A rendered page. */
export interface RenderedPage extends z.output<typeof RenderedPage> {}
export const RenderedPage = lazyObject(() => ({
  /** The session that rendered it. It has ended. */
  session_id: z.string(),
  /** Address of the page after redirects. */
  url: z.string(),
  /** HTTP status of the page; absent for `html`. */
  status: z.optional(z.int()),
  /** Title of the page. */
  title: z.string(),
  /** Redirects before the page, in order; at most 20. */
  redirects: z.array(RenderRedirect),
  /** Response headers of the page about its content and caching, such as `content-type`, `etag` and `x-robots-tag`. */
  headers: z.record(z.string(), z.string()),
  /** Dialogs that the page opened. They were dismissed; at most 10. */
  dialogs: z.array(PageDialog),
  /** Outputs that are incomplete because of their limit. */
  cut: z.array(z.string()),
  /** With `best_attempt`: whether loading or `wait_for` took too long. */
  timed_out: z.boolean(),
  /** The HTML after its scripts ran. */
  html: z.optional(z.string()),
  /** The text with headings, links, lists and tables. */
  markdown: z.optional(z.string()),
  /** The text as shown. */
  text: z.optional(z.string()),
  /** The links, each address once; at most 5,000. */
  links: z.optional(z.array(RenderedLink)),
  /** One line for each element: role, name and state. */
  outline: z.optional(z.string()),
  /** The elements of each selector. */
  elements: z.optional(z.array(RenderedElements)),
  /** The picture. */
  screenshot: z.optional(RenderedFile),
  /** The PDF. */
  pdf: z.optional(RenderedFile),
}));
