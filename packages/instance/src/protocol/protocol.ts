import {
  BrowserConditions,
  BrowserViewport,
  cdpCommandMethods,
  checked,
  lazyObject,
  Replay,
  telemetryCategories,
} from "@shoal/schemas";
import { maxViewportPixels } from "@shoal/schemas/viewport-limits";
import * as z from "zod/mini";

/** The service disconnects from an instance that sends a longer event. */
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
  z.refine((path) => !path.includes("\0"), "must not contain a NUL character"),
);
export const ContextId = checked(z.string(), z.regex(/^[0-9a-f]{1,64}$/));
/** 64 KiB, to which the service may add line breaks. */
const maxAuthoritiesCharacters = 81_920;
const Pixels = checked(z.int(), z.minimum(1), z.maximum(maxViewportPixels));
const EpochMs = checked(z.int(), z.minimum(0));
/** Without user name, query and fragment. */
const PageAddress = checked(z.string(), z.maxLength(1024));

/** Passed as JSON in the environment variable `SHOAL_INSTANCE`. */
export interface InstanceConfig extends z.output<typeof InstanceConfig> {}
export const InstanceConfig = lazyObject(() => ({
  instance_id: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** Unix socket; absent with `remote`. */
  listen_path: z.optional(HostPath),
  /** The service runs as another user, which may connect only to a socket that is open to all. */
  listen_for_all: z.optional(z.boolean()),
  /** Unix socket or Windows named pipe of the egress gateway, an HTTP proxy. */
  egress_path: HostPath,
  /**
   * Serves a service on another machine with mutual TLS. The program then serves `egress_path` itself, over connections
   * of the service.
   */
  remote: z.optional(
    checked(
      z.object({
        /**
         * On the address in the environment variable `SHOAL_ADDRESS`; 0 selects a free one. Without a port, connections
         * arrive as CONNECT requests of an HTTP/2 connection on standard input and output, after the first line.
         */
        port: z.optional(checked(z.int(), z.minimum(0), z.maximum(65_535))),
        /** SHA-256 of the public key of the service, in hexadecimal. */
        service_pin: z.optional(checked(z.string(), z.regex(/^[0-9a-f]{64}$/))),
        /** File in which the pin appears later: for an instance that starts before it has a service. */
        service_pin_path: z.optional(HostPath),
        /** File that only a copy of this program has, and that changes with each copy. Without a port only. */
        reborn_path: z.optional(HostPath),
        /** Milliseconds without a connection of the service, after which the instance ends; 60,000 by default. */
        abandoned_ms: z.optional(checked(z.int(), z.minimum(1_000))),
      }),
      z.refine(
        ({ service_pin, service_pin_path }) => (service_pin === undefined) !== (service_pin_path === undefined),
        "needs either service_pin or service_pin_path",
      ),
    ),
  ),
  /** Root of API paths: `/` in a box, otherwise a directory that paths cannot leave. */
  root: HostPath,
  /** API path; contains `Downloads`. */
  home: HostPath,
  /** Directory for the browser's files, as a path of the host. */
  session_dir: HostPath,
  chromium: z.object({
    executable: HostPath,
    /** `chrome` is a full Chromium or Chrome. */
    kind: z.enum(["headless_shell", "chrome"]),
    /** Without Chromium's own sandbox, it runs with `--no-sandbox`. */
    inner_sandbox: z.boolean(),
    /** A full Chromium, where `executable` is a headless shell. */
    full: z.optional(z.object({ executable: HostPath, inner_sandbox: z.boolean() })),
  }),
  viewport: z.object({ width: Pixels, height: Pixels }),
  /** Path of Node, where a loader started the program. */
  node: z.optional(HostPath),
  /** V8's compile cache, writable or already filled: see `instanceProgramPath`. */
  cache_dir: z.optional(HostPath),
}));

/** `bodies`: of requests and responses of the category `network`. `outlines`: of pages around actions, of the category `page`. With a minus: CDP commands that `control` leaves out. */
export const capturedCategories = [
  ...telemetryCategories,
  "bodies",
  "outlines",
  ...cdpCommandMethods.map((method) => `-${method}` as const),
] as const;

/** A hundred years: the age of a recording has no other limit. */
const maxClockOffsetMs = 100 * 366 * 86_400_000;

/**
 * Each difference from the waiting browser selects a full Chromium, except `again`, `headless: true`, `timezone`,
 * `conditions`, `clock_offset_ms` and `random_seed`.
 */
export interface LaunchWishes extends z.output<typeof LaunchWishes> {}
export const LaunchWishes = lazyObject(() => ({
  /** Use a full Chromium; policies and extensions need one. */
  full: z.optional(z.boolean()),
  /** Restart the browser in any case, because files that it reads at its start have changed. */
  again: z.optional(z.boolean()),
  /** `false`: show a window on the session's own screen. */
  headless: z.optional(z.boolean()),
  kiosk: z.optional(z.boolean()),
  stealth: z.optional(z.boolean()),
  /** IANA name. Set in the environment of the browser. */
  timezone: z.optional(checked(z.string(), z.regex(/^[A-Za-z][\w+/-]{0,63}$/))),
  /** Of pages, in place of the present ones. */
  conditions: z.optional(BrowserConditions),
  /** Added to the time that pages and workers see. */
  clock_offset_ms: z.optional(checked(z.int(), z.minimum(-maxClockOffsetMs), z.maximum(maxClockOffsetMs))),
  /** Of `Math.random` in each document and worker. */
  random_seed: z.optional(checked(z.int(), z.minimum(1), z.maximum(2_147_483_647))),
  /** BCP 47 tag. Another one than `en-US` needs a full Chromium, and a file of this name in its folder `locales`. */
  locale: z.optional(checked(z.string(), z.regex(/^[A-Za-z][\w-]{1,34}$/))),
}));

/** Printed to stdout by an instance with `remote`, in place of `{"listening":true}`. */
export interface RemoteListening extends z.output<typeof RemoteListening> {}
export const RemoteListening = lazyObject(() => ({
  listening: z.literal(true),
  /** Absent on standard input and output. */
  port: z.optional(checked(z.int(), z.minimum(1), z.maximum(65_535))),
  /** Of the key that the instance has just made. */
  pin: checked(z.string(), z.regex(/^[0-9a-f]{64}$/)),
}));

/** Hands a waiting instance to a session and starts its idle timer. Repeat it to change the settings. */
export interface AssignInstance extends z.output<typeof AssignInstance> {}
export const AssignInstance = lazyObject(() => ({
  session_id: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** Seconds without use after which the instance ends. The API's minimum is 10. */
  timeout_seconds: checked(z.int(), z.minimum(1), z.maximum(259_200)),
  /** Size of the visible page; unchanged when absent. */
  viewport: z.optional(ViewportSize),
  /** Captured when the request is answered; none when absent. */
  telemetry: z.optional(z.array(z.enum(capturedCategories))),
  /** Page to open, unless the previous assignment named the same one. The answer does not wait for the page. */
  start_url: z.optional(checked(z.string(), z.maxLength(8192))),
  /** Restarts the browser with these differences before the request is answered. */
  launch: z.optional(LaunchWishes),
  /** The service saves the profile at the end: after its timeout the instance waits for that. */
  saves_profile: z.optional(z.boolean()),
  /** PEM certificates of further trusted authorities. A change restarts the browser. Needs Linux and `certutil`. */
  authorities: z.optional(checked(z.string(), z.maxLength(maxAuthoritiesCharacters))),
  /** Add signatures of the service to requests to these hosts; empty = all. Not signed when absent. Never changes. */
  sign_hosts: z.optional(checked(z.array(checked(z.string(), z.maxLength(255))), z.maxLength(50))),
  /** Open the tabs of the profile's archive before the request is answered: it is the state of a session that is forked. */
  opens_tabs: z.optional(z.boolean()),
}));

export interface AssignFiles extends z.output<typeof AssignFiles> {}
export const AssignFiles = lazyObject(() => ({
  /** An {@link AssignInstance} as JSON. */
  assign: z.string(),
  extensions: z.optional(z.array(z.object({ name: z.string(), zip_file: z.file() }))),
  /** The archive of a profile. The browser starts once, with it and with the differences of `assign`. */
  profile: z.optional(z.file()),
}));

export interface ChangeViewport extends z.output<typeof ChangeViewport> {}
export const ChangeViewport = lazyObject(() => ({
  viewport: ViewportSize,
  /** Resize even during a recording or with viewers; recordings then continue as new ones. */
  force: z.boolean(),
}));

export interface ViewportChanged extends z.output<typeof ViewportChanged> {}
export const ViewportChanged = lazyObject(() => ({
  replays: z.array(Replay),
  /** Ids of the ended recordings that they continue, in the same order. */
  continued: z.optional(z.array(z.string())),
}));

export interface SelectTelemetry extends z.output<typeof SelectTelemetry> {}
export const SelectTelemetry = lazyObject(() => ({
  categories: z.array(z.enum(capturedCategories)),
  /** Ends telemetry: readers get the remaining events and the end. */
  final: z.optional(z.boolean()),
}));

export interface SetHandoff extends z.output<typeof SetHandoff> {}
export const SetHandoff = lazyObject(() => ({
  id: z.string(),
  status: z.enum(["requested", "taken", "released", "expired", "canceled"]),
  on_automation: z.enum(["wait", "refuse"]),
  /** Until its deadline. */
  remaining_ms: checked(z.int(), z.minimum(0), z.maximum(2_147_483_647)),
  label: z.optional(z.string()),
}));

export interface PolicyRevision extends z.output<typeof PolicyRevision> {}
export const PolicyRevision = lazyObject(() => ({
  /** Hexadecimal; changes with the policies. */
  revision: checked(z.string(), z.regex(/^[0-9a-f]{1,64}$/)),
}));

/** Adds a session to an instance whose browser serves several. The service then connects to `listen_path`. */
export interface OpenContext extends z.output<typeof OpenContext> {}
export const OpenContext = lazyObject(() => ({
  context_id: ContextId,
  listen_path: HostPath,
  /** The egress gateway's, for this session only. */
  egress_path: HostPath,
  viewport: z.object({ width: Pixels, height: Pixels }),
}));

/** Asks whether a session may be frozen or copied, and reports its sleeps and copies, for telemetry. */
export interface RestQuestion extends z.output<typeof RestQuestion> {}
export const RestQuestion = lazyObject(() => ({
  /** Since the last use. The session is frozen, and its sleep recorded, if nothing runs. */
  idle_ms: z.optional(checked(z.int(), z.minimum(0))),
  /** A sleep that a use has just ended. */
  slept: z.optional(z.object({ ms: checked(z.int(), z.minimum(0)), until_ms: EpochMs })),
  /** Asks whether it may be copied: clients and operations of the session do not hinder that. */
  for_copy: z.optional(z.boolean()),
  /** A copy that was just made. */
  copied: z.optional(z.object({ paused_ms: checked(z.int(), z.minimum(0)) })),
}));

/** Whether a session may be frozen or copied. */
export interface RestReport extends z.output<typeof RestReport> {}
export const RestReport = lazyObject(() => ({
  /** What still runs, for logs; `null` = nothing. */
  busy: z.nullable(checked(z.string(), z.maxLength(100))),
  /** Until the idle timeout ends the session; `null` while it does not run, because a client is connected. */
  expires_in_ms: z.nullable(checked(z.int(), z.minimum(0), z.maximum(259_200_000))),
}));

/** The service drops longer lines. */
export const maxTelemetryLineBytes = 8 * 2 ** 20;

/** One JSON document a line. */
export type InstanceEvent = z.output<typeof InstanceEvent>;
export const InstanceEvent = z.lazy(() =>
  z.discriminatedUnion("type", [
    /** The current state; the first event of each reader. */
    z.object({
      type: z.literal("state"),
      browser: z.enum(["starting", "ready"]),
      /** Time of the last use, in milliseconds since 1970; `null` while the instance is in use. */
      idle_since_ms: z.nullable(EpochMs),
      browser_restarts: checked(z.int(), z.minimum(0)),
      page_url: z.optional(PageAddress),
    }),
    /** `page_url` changed; absent without a page. */
    z.object({ type: z.literal("page"), page_url: z.optional(PageAddress) }),
    z.object({ type: z.literal("ready") }),
    /** The idle timeout has passed; the instance waits for `saveProfileAtEnd` and `stop`. Only with `saves_profile`. */
    z.object({ type: z.literal("expired") }),
    z.object({ type: z.literal("activity"), idle_since_ms: z.nullable(EpochMs) }),
    z.object({
      type: z.literal("browser_restarted"),
      exit_code: z.nullable(z.int()),
      signal: z.nullable(checked(z.string(), z.maxLength(32))),
    }),
    /** `path` is a path of the session's files; `null` without a file. */
    z.object({
      type: z.literal("download_finished"),
      download_id: checked(z.string(), z.regex(/^[\w-]{1,64}$/)),
      state: z.enum(["completed", "canceled", "interrupted"]),
      file_name: checked(z.string(), z.maxLength(1024)),
      path: z.nullable(checked(z.string(), z.maxLength(2048))),
      size_bytes: checked(z.int(), z.minimum(0)),
      sha256: z.nullable(checked(z.string(), z.regex(/^[0-9a-f]{64}$/))),
      /** Of the address; empty without one. */
      host: checked(z.string(), z.maxLength(255)),
    }),
    z.object({
      type: z.literal("ending"),
      reason: z.enum(["timeout", "browser_crashed", "stopped"]),
      /** For people: the browser's last lines after a crash. */
      detail: z.optional(checked(z.string(), z.maxLength(4096))),
    }),
  ]),
);
