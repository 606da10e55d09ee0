import * as z from "zod/mini";
import { DisplayName, Id, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, noNul, openEnum } from "../base/schema.ts";

/** Input of `browsers.handoff.request`. */
export interface RequestHandoff extends z.input<typeof RequestHandoff> {}
export const RequestHandoff = lazyObject(() => ({
  /** The task for the person, shown on the page of the link. */
  message: checked(z.string(), z.minLength(1), z.maxLength(2000), noNul()),
  /** Seconds until the handoff and its link expire, 10 to 14,400. */
  timeout_seconds: z._default(checked(z.int(), z.minimum(10), z.maximum(14_400)), 900),
  /** Input of programs meanwhile: `wait` for the end of the handoff, or `refuse` with the code `handoff_active`. */
  on_automation: z._default(z.enum(["wait", "refuse"]), "wait"),
  /** Name of the person, for events and the audit log. */
  label: z.optional(DisplayName),
}));

/** Query of `browsers.handoff.get`. */
export interface GetHandoff extends z.input<typeof GetHandoff> {}
export const GetHandoff = lazyObject(() => ({
  /** Id of an earlier handoff. Default: the latest. */
  handoff_id: z.optional(Id),
  /** Seconds to wait for the end of the handoff, 0 to 50. */
  wait_seconds: z._default(checked(z.int(), z.minimum(0), z.maximum(50)), 0),
}));

/** Input of `browsers.handoff.release`. */
export interface ReleaseHandoff extends z.input<typeof ReleaseHandoff> {}
export const ReleaseHandoff = lazyObject(() => ({
  /** Note about the result. */
  note: z.optional(checked(z.string(), z.maxLength(2000), noNul())),
}));

/** The control of a session by a person. */
export interface Handoff extends z.output<typeof Handoff> {}
export const Handoff = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Id of the session. */
  session_id: z.string(),
  /** `requested`: the person has not taken control. `taken`: the person has control. The others are final. */
  status: openEnum("requested", "taken", "released", "expired", "canceled"),
  /** The task for the person. */
  message: z.string(),
  /** Input of programs meanwhile. */
  on_automation: openEnum("wait", "refuse"),
  /** Name of the person; `null` without one. */
  label: z.nullable(z.string()),
  /** Page for the person. Anyone with this URL can take control. Absent after the end. */
  url: z.optional(z.string()),
  /** When it was requested. */
  created_at: Timestamp,
  /** When it expires. */
  expires_at: Timestamp,
  /** When the person took control; `null` before. */
  taken_at: z.nullable(Timestamp),
  /** The person's label, or `person` without one; `null` before. */
  taken_by: z.nullable(z.string()),
  /** When it was released, expired or canceled; `null` before. */
  ended_at: z.nullable(Timestamp),
  /** The person's label, `person` without one, or `program`; `null` unless it was released. */
  released_by: z.nullable(z.string()),
  /** Note about the result, from the person or the program; `null` without one. */
  note: z.nullable(z.string()),
}));

/** Input of `browsers.liveViewLinks.create`. */
export interface CreateLiveViewLink extends z.input<typeof CreateLiveViewLink> {}
export const CreateLiveViewLink = lazyObject(() => ({
  /** `view`: read-only. `operate`: with mouse and keyboard. */
  scope: z._default(z.enum(["view", "operate"]), "view"),
  /** Seconds until the link expires, 10 to 2,592,000 (30 days). It also ends with the session. */
  expires_in_seconds: z._default(checked(z.int(), z.minimum(10), z.maximum(2_592_000)), 3600),
  /** Name of the person, for events and the audit log. */
  label: z.optional(DisplayName),
}));

/** Query of `browsers.liveViewLinks.list`. */
export interface ListLiveViewLinks extends z.input<typeof ListLiveViewLinks> {}
export const ListLiveViewLinks = lazyObject(() => pageFields);

const linkFields = () => ({
  /** Stable identifier. */
  id: z.string(),
  /** Id of the session. */
  session_id: z.string(),
  /** `view`: read-only. `operate`: with mouse and keyboard. */
  scope: openEnum("view", "operate"),
  /** Name of the person; `null` without one. */
  label: z.nullable(z.string()),
  /** When it was created. */
  created_at: Timestamp,
  /** When it expires. */
  expires_at: Timestamp,
});

/** A link to the live view of a session. */
export interface LiveViewLink extends z.output<typeof LiveViewLink> {}
export const LiveViewLink = lazyObject(linkFields);

/** A new link, with its URL. */
export interface CreatedLiveViewLink extends z.output<typeof CreatedLiveViewLink> {}
export const CreatedLiveViewLink = lazyObject(() => ({
  ...linkFields(),
  /** Page of the live view, returned only here. Anyone with this URL has the scope of the link. */
  url: z.string(),
}));
