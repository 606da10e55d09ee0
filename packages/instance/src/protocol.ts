import { BrowserViewport, checked, lazyObject, Replay, telemetryCategories, type Schema } from "@shoal/schemas";
import { maxViewportPixels } from "@shoal/schemas/viewport-limits";
import * as z from "zod/mini";

/** Largest line of `GET /_instance/events`, in bytes. A reader ends the connection at a longer one: what runs in a box is not trusted. */
export const maxInstanceEventBytes = 16_384;

const ViewportSize = checked(
  BrowserViewport,
  z.refine(
    (viewport) => viewport.width <= maxViewportPixels && viewport.height <= maxViewportPixels,
    `width and height must be at most ${String(maxViewportPixels)}`,
  ),
);
const HostPath = checked(
  z.string(),
  z.minLength(1),
  z.maxLength(4096),
  z.refine((path) => !path.includes("\0"), "must not hold a NUL character"),
);
/** Longest text of authorities' certificates. The service takes 64 KiB, to which it may add line breaks. */
const maxAuthoritiesCharacters = 81_920;
const Pixels = checked(z.int(), z.minimum(1), z.maximum(maxViewportPixels));
const EpochMs = checked(z.int(), z.minimum(0));

export const InstanceConfigShape = lazyObject(() => ({
  /** Names the instance in logs. */
  instance_id: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** Unix socket, or Windows named pipe, that the program serves HTTP on. */
  listen_path: HostPath,
  /** Unix socket, or Windows named pipe, of the egress gateway outside: an HTTP proxy. */
  egress_path: HostPath,
  /** What the API's paths start from: `/` in a box, else a directory that plays it and that no path may leave. */
  root: HostPath,
  /** Home directory, as an API path; downloads go to `Downloads` in it. */
  home: HostPath,
  /** Directory for what the browser keeps, a path of the system that the program runs on. */
  session_dir: HostPath,
  chromium: z.object({
    /** Path of the program. */
    executable: HostPath,
    /** Headless shell, or a full Chromium or Chrome that is started with `--headless=new`. */
    kind: z.enum(["headless_shell", "chrome"]),
    /** Whether Chromium keeps its own sandbox; without it, `--no-sandbox`. */
    inner_sandbox: z.boolean(),
    /** A full Chromium beside a headless shell, for sessions that ask for what only it has. */
    full: z.optional(z.object({ executable: HostPath, inner_sandbox: z.boolean() })),
  }),
  /** Size of the window that Chromium starts with. */
  viewport: z.object({ width: Pixels, height: Pixels }),
  /** Path of Node, where the program itself was started through a loader. */
  node: z.optional(HostPath),
  /** V8's compile cache, writable or filled before: see `instanceProgramPath`. */
  cache_dir: z.optional(HostPath),
}));
/** What the instance program is told at its start, in the environment variable `SHOAL_INSTANCE`, as JSON. */
export interface InstanceConfig extends z.output<typeof InstanceConfigShape> {}
export const InstanceConfig: Schema<InstanceConfig> = InstanceConfigShape;

export const LaunchWishesShape = lazyObject(() => ({
  /** `true`: a full Chromium, whatever the rest asks for; what a session with policies or extensions needs. */
  full: z.optional(z.boolean()),
  /** `true`: started again even where it runs as wished, since what it reads at its start has changed. */
  again: z.optional(z.boolean()),
  /** `false`: a window on a screen of its own. */
  headless: z.optional(z.boolean()),
  /** `true`: the window shows the page alone. */
  kiosk: z.optional(z.boolean()),
  /** `true`: hides the signs of automation. */
  stealth: z.optional(z.boolean()),
}));
/** How a session's browser is to be started where that differs from the first browser of a waiting instance; what is absent stays as it is. Each of them but `again` and `headless: true` selects a full Chromium. */
export interface LaunchWishes extends z.output<typeof LaunchWishesShape> {}

export const AssignInstanceShape = lazyObject(() => ({
  /** The session that the instance serves from now on. */
  session_id: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** Seconds without a CDP client or an operation in flight, after which the instance ends: 1 to 259200. The service's own minimum is 10. */
  timeout_seconds: checked(z.int(), z.minimum(1), z.maximum(259_200)),
  /** Size of the visible page; as the browser was started when absent. */
  viewport: z.optional(ViewportSize),
  /** Categories of telemetry to capture from the start; the answer waits until that holds. None when absent. */
  telemetry: z.optional(z.array(z.enum(telemetryCategories))),
  /** A page to open at once, unless the latest assignment that named one named the same; the answer does not wait for it. */
  start_url: z.optional(checked(z.string(), z.maxLength(8192))),
  /** How the browser is started; the waiting one is kept when absent. Else it is ended and started again, and the answer waits for that. */
  launch: z.optional(LaunchWishesShape),
  /** Whether what the browser keeps is saved at the end: the instance then waits for that when its timeout has passed. */
  saves_profile: z.optional(z.boolean()),
  /**
   * Certificates of authorities that the browser trusts beside those that it knows, PEM; none when empty, as they are when absent. Where they differ from the present
   * ones the browser is ended and started again, and the answer waits for that. Needs Linux and `certutil`.
   */
  authorities: z.optional(checked(z.string(), z.maxLength(maxAuthoritiesCharacters))),
}));
/** `POST /_instance/assign`: hands a waiting instance to a session. Its idle timer starts. Sent again for the same session, it changes the timeout, the size and the page. */
export interface AssignInstance extends z.output<typeof AssignInstanceShape> {}
export const AssignInstance: Schema<AssignInstance> = AssignInstanceShape;

export const ChangeViewportShape = lazyObject(() => ({
  /** The new size. */
  viewport: ViewportSize,
  /** Even while a recording runs or somebody watches; recordings then end, and go on as others of the new size. */
  force: z.boolean(),
}));
/** `POST /_instance/viewport`: sizes the pages of a session, or the screen of one with a window. Answered once it holds; 409 where that needs `force`. */
export interface ChangeViewport extends z.output<typeof ChangeViewportShape> {}
export const ChangeViewport: Schema<ChangeViewport> = ChangeViewportShape;

export const ViewportChangedShape = lazyObject(() => ({
  /** Recordings that have begun where others had to end. */
  replays: z.array(Replay),
}));
/** The answer to `POST /_instance/viewport`. */
export interface ViewportChanged extends z.output<typeof ViewportChangedShape> {}
export const ViewportChanged: Schema<ViewportChanged> = ViewportChangedShape;

export const SelectTelemetryShape = lazyObject(() => ({
  /** Categories to capture from now on, and no others. */
  categories: z.array(z.enum(telemetryCategories)),
  /** Ends the telemetry for good, whatever the categories: every reader gets what it is owed, and its end. */
  final: z.optional(z.boolean()),
}));
/** `POST /_instance/telemetry`. Answered once it holds. */
export interface SelectTelemetry extends z.output<typeof SelectTelemetryShape> {}
export const SelectTelemetry: Schema<SelectTelemetry> = SelectTelemetryShape;

/** Longest line of `GET /_instance/telemetry?after=n`, in bytes: an event with its number, as the contract's envelope. A reader leaves longer ones out. */
export const maxTelemetryLineBytes = 8 * 2 ** 20;

export const InstanceEventShape = z.lazy(() =>
  z.discriminatedUnion("type", [
    /** The present state; the first event of every reader. */
    z.object({
      type: z.literal("state"),
      /** Whether the browser answers. */
      browser: z.enum(["starting", "ready"]),
      /** Since when nobody uses the instance, in milliseconds since 1970; `null` while it is in use. */
      idle_since_ms: z.nullable(EpochMs),
      /** How often a crashed browser was started again, 0 or 1. */
      browser_restarts: checked(z.int(), z.minimum(0)),
    }),
    /** The browser answers, at first or again. */
    z.object({ type: z.literal("ready") }),
    /** Nobody used the instance for its timeout. It takes nothing new and waits for `POST /_instance/profile/final` and `stop`; told only where `saves_profile` was assigned. */
    z.object({ type: z.literal("expired") }),
    /** Use began (`null`) or ended (milliseconds since 1970). */
    z.object({ type: z.literal("activity"), idle_since_ms: z.nullable(EpochMs) }),
    /** The browser crashed and is being started again. */
    z.object({ type: z.literal("browser_restarted"), exit_code: z.nullable(z.int()), signal: z.nullable(checked(z.string(), z.maxLength(32))) }),
    /** The last event. */
    z.object({
      type: z.literal("ending"),
      reason: z.enum(["timeout", "browser_crashed", "stopped"]),
      /** For people; the browser's last lines where it crashed. At most 4096 characters. */
      detail: z.optional(checked(z.string(), z.maxLength(4096))),
    }),
  ]),
);
/** What an instance reports, one JSON document a line of `GET /_instance/events`. */
export type InstanceEvent = z.output<typeof InstanceEventShape>;
export const InstanceEvent: Schema<InstanceEvent> = InstanceEventShape;
