import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";
import { unused } from "../kit/page-shapes.ts";

const text = (maxLength = 8192) => checked(z.string(), z.maxLength(maxLength));
const flag = () => z.optional(z.boolean());
const pixels = () => checked(z.int(), z.minimum(1), z.maximum(16_384));
const storage = () => z.optional(z.record(text(2048), z.record(z.string(), z.string())));

const Cookie = z.object({
  name: text(),
  value: text(),
  domain: z.optional(text(2048)),
  url: z.optional(text()),
  path: z.optional(text(2048)),
  expires: z.optional(z.number()),
  httpOnly: flag(),
  secure: flag(),
  sameSite: z.optional(z.enum(["Strict", "Lax", "None"])),
  partitionKey: z.optional(z.object({ topLevelSite: text(2048), hasCrossSiteAncestor: flag() })),
  session: flag(),
  size: z.optional(z.number()),
  priority: z.optional(z.string()),
  sameParty: flag(),
  sourcePort: z.optional(z.number()),
  sourceScheme: z.optional(z.string()),
});

export type SessionContext = z.output<typeof SessionContext>;
export const SessionContext = lazyObject(() => ({
  cookies: z.optional(checked(z.array(Cookie), z.maxLength(1000))),
  /** By origin. */
  localStorage: storage(),
  sessionStorage: storage(),
  indexedDB: z.optional(z.record(z.string(), z.unknown())),
}));

const Place = z.object({ country: text(255), state: z.optional(text(255)), city: z.optional(text(255)) });

export type CreateSession = z.output<typeof CreateSession>;
export const CreateSession = lazyObject(() => ({
  /** The id of the new session. */
  sessionId: z.optional(checked(z.string(), z.regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i))),
  /** Milliseconds. */
  timeout: z.optional(checked(z.int(), z.minimum(10_000), z.maximum(86_400_000))),
  dimensions: z.optional(z.object({ width: pixels(), height: pixels() })),
  proxyUrl: z.optional(text(2048)),
  useProxy: z.optional(z.union([z.boolean(), z.object({ server: text(2048) }), z.object({ geolocation: Place })])),
  sessionContext: z.optional(SessionContext),
  profileId: z.optional(text(255)),
  persistProfile: flag(),
  extensionIds: z.optional(checked(z.array(text(255)), z.maxLength(20))),
  headless: flag(),
  fullscreen: flag(),
  optimizeBandwidth: z.optional(
    z.union([
      z.boolean(),
      z.object({
        blockHosts: z.optional(checked(z.array(text(253)), z.maxLength(200))),
        blockUrlPatterns: z.optional(z.array(text())),
        blockImages: flag(),
        blockMedia: flag(),
        blockStylesheets: flag(),
      }),
    ]),
  ),
  stealthConfig: z.optional(
    z.object({ autoCaptchaSolving: flag(), humanizeInteractions: flag(), skipFingerprintInjection: flag() }),
  ),
  deviceConfig: z.optional(z.object({ device: z.optional(z.enum(["desktop", "mobile"])) })),
  isSelenium: flag(),
  userAgent: z.optional(text(1000)),
  credentials: unused(),
  namespace: unused(),
  blockAds: unused(),
  concurrency: unused(),
  debugConfig: unused(),
  experimentalFeatures: unused(),
  region: unused(),
  solveCaptcha: unused(),
}));

export const sessionStatuses = ["live", "released", "failed"] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** The answers. */
export type Session = z.output<typeof Session>;
export const Session = lazyObject(() => ({
  id: z.string(),
  createdAt: z.string(),
  status: z.string(),
  /** Milliseconds. */
  duration: z.int(),
  /** Milliseconds. */
  timeout: z.int(),
  eventCount: z.int(),
  creditsUsed: z.int(),
  proxyBytesUsed: z.int(),
  proxySource: z.nullable(z.string()),
  /** A CDP address without a key, while the session runs. */
  websocketUrl: z.string(),
  debugUrl: z.string(),
  sessionViewerUrl: z.string(),
  dimensions: z.object({ width: z.int(), height: z.int() }),
  optimizeBandwidth: z.object({}),
  headless: z.boolean(),
  profileId: z.optional(z.string()),
  persistProfile: z.optional(z.boolean()),
}));

export type ListSessions = z.output<typeof ListSessions>;
export const ListSessions = lazyObject(() => ({
  status: z.optional(z.enum(sessionStatuses)),
  limit: z.optional(checked(z.int(), z.minimum(1), z.maximum(100))),
  /** The last id of the page before. */
  cursorId: z.optional(text(255)),
}));

export const Sessions = lazyObject(() => ({ sessions: z.array(Session), nextCursor: z.nullable(z.string()) }));

export const Done = lazyObject(() => ({ success: z.boolean(), message: z.string() }));

export const LiveDetails = lazyObject(() => ({
  sessionViewerUrl: z.string(),
  sessionViewerFullscreenUrl: z.string(),
  wsUrl: z.string(),
  pages: z.array(
    z.object({
      id: z.string(),
      url: z.string(),
      title: z.string(),
      favicon: z.nullable(z.string()),
      sessionViewerUrl: z.string(),
      sessionViewerFullscreenUrl: z.string(),
    }),
  ),
}));

const point = () => checked(z.array(z.int()), z.minLength(2), z.maxLength(2));
const keys = () => checked(z.array(text(50)), z.maxLength(16));

/** `action` names the fields that it uses. */
export type Computer = z.output<typeof Computer>;
export const Computer = lazyObject(() => ({
  action: z.enum([
    "move_mouse",
    "click_mouse",
    "drag_mouse",
    "scroll",
    "press_key",
    "type_text",
    "wait",
    "take_screenshot",
    "get_cursor_position",
  ]),
  coordinates: z.optional(point()),
  path: z.optional(z.array(point())),
  button: z.optional(z.enum(["left", "right", "middle", "back", "forward"])),
  click_type: z.optional(z.enum(["click", "down", "up"])),
  num_clicks: z.optional(z.int()),
  delta_x: z.optional(z.int()),
  delta_y: z.optional(z.int()),
  keys: z.optional(keys()),
  hold_keys: z.optional(keys()),
  text: z.optional(text(100_000)),
  /** Seconds. */
  duration: z.optional(checked(z.number(), z.minimum(0), z.maximum(60))),
  screenshot: flag(),
}));

export type ComputerResult = z.output<typeof ComputerResult>;
export const ComputerResult = lazyObject(() => ({
  base64_image: z.optional(z.string()),
  output: z.optional(z.string()),
}));

const page = () => ({
  url: text(),
  /** Milliseconds. */
  delay: z.optional(checked(z.int(), z.minimum(0), z.maximum(60_000))),
  useProxy: flag(),
  region: unused(),
});

export type PageBody = z.output<typeof PageBody>;
export const PageBody = lazyObject(page);

export const ScreenshotBody = lazyObject(() => ({ ...page(), fullPage: flag() }));

export const ScrapeBody = lazyObject(() => ({
  ...page(),
  format: z.optional(
    checked(z.array(z.enum(["html", "readability", "cleaned_html", "markdown"])), z.minLength(1), z.maxLength(4)),
  ),
  screenshot: flag(),
  pdf: flag(),
}));

export const FileUrl = lazyObject(() => ({ url: z.string() }));

export const Scraped = lazyObject(() => ({
  content: z.object({ html: z.optional(z.string()), markdown: z.optional(z.string()) }),
  metadata: z.record(z.string(), z.union([z.string(), z.int()])),
  links: z.array(z.object({ url: z.string(), text: z.string() })),
  screenshot: z.optional(FileUrl),
  pdf: z.optional(FileUrl),
}));

export type StoredFile = z.output<typeof StoredFile>;
export const StoredFile = lazyObject(() => ({ path: z.string(), size: z.int(), lastModified: z.string() }));
export const StoredFiles = lazyObject(() => ({ data: z.array(StoredFile) }));
export const UploadFile = lazyObject(() => ({ file: z.file(), path: z.optional(z.string()) }));
export const Nothing = lazyObject(() => ({}));
