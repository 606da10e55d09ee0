import type { KnownErrorCode } from "./error.ts";

/** What callers need to know of a code. */
export interface ErrorCodeEntry {
  /** Statuses that it comes with; none where it stands in an error's `details` alone. */
  readonly statuses: readonly number[];
  /** What happened, as a sentence. */
  readonly meaning: string;
  /**
   * Whether the same request can succeed: `no` while neither it nor what it is about is changed, `soon` in a moment and by itself, `later` when something else
   * has ended that is in use now.
   */
  readonly again: "no" | "soon" | "later";
  /** What to do, as a sentence. */
  readonly advice: string;
}

/** Every code that Shoal sends, for docs/guide/error-codes.md. Apart from the codes, for it would be in every bundle. A test holds it to what the sources send. */
export const errorCodeTable: Readonly<Record<KnownErrorCode, ErrorCodeEntry>> = {
  audit_export_not_available: {
    statuses: [400],
    meaning: "The service does not export its audit log.",
    again: "no",
    advice: "Have its operator name AWS credentials for the export.",
  },
  bad_gateway: {
    statuses: [502],
    meaning:
      "Another server that the request needs did not answer, or answered what cannot be used: the site of `browsers.curl`, the Chrome Web Store, the session's instance.",
    again: "soon",
    advice: "Look at `net_error_name` where there is one; repeat what may be repeated.",
  },
  bad_request: {
    statuses: [400, 408, 417, 431],
    meaning:
      "The request does not fit. `details` names each field that is wrong; 408 is a body that did not arrive in time, 431 headers that are too large.",
    again: "no",
    advice: "Correct the fields that the message names.",
  },
  blob_store_unavailable: {
    statuses: [503],
    meaning: "The bucket with the service's extensions and profiles cannot be used; nothing was changed.",
    again: "soon",
    advice: "Repeat it; if it goes on, tell the operator.",
  },
  browser_not_running: {
    statuses: [409, 503],
    meaning: "The session is there, its browser is not: it starts, ends, or has crashed. A browser that crashed is started again once.",
    again: "soon",
    advice: "Look at the session with `browsers.get`, `include_deleted: true`; repeat the request if it runs, else create another.",
  },
  call_cut_off: {
    statuses: [409],
    meaning: "The call with this `Idempotency-Key` lost its connection, nobody came back for it within 5 seconds, and it was stopped in its middle.",
    again: "no",
    advice: "Look what took effect, and send what is left with a new key.",
  },
  capacity_exhausted: {
    statuses: [529],
    meaning: "The server runs, or is starting, as many sessions as it may.",
    again: "soon",
    advice: "Wait as long as `Retry-After` says, or keep a browser pool for bursts; the operator can raise `max_sessions`.",
  },
  conflict: {
    statuses: [409],
    meaning:
      "What there is contradicts the request: something exists already, has ended, is watched or recorded, or a fixed number of things is reached.",
    again: "no",
    advice: "The message says what is in the way. With `Retry-After` it passes by itself: another request with the same Idempotency-Key still runs.",
  },
  database_unavailable: {
    statuses: [503],
    meaning: "The service's database cannot be reached, or is too busy.",
    again: "soon",
    advice: "Repeat it after `Retry-After`; if it goes on, tell the operator.",
  },
  directory_busy: {
    statuses: [409],
    meaning: "The directory could not be deleted whole, because something goes on writing into it.",
    again: "later",
    advice: "End what writes there and send the request again.",
  },
  forbidden: {
    statuses: [403],
    meaning: "The key is valid and does not open this.",
    again: "no",
    advice: "Use a key of that project, or one of the whole organisation.",
  },
  idempotency_conflict: {
    statuses: [409, 422],
    meaning: "The Idempotency-Key was used for another request, or its first answer cannot be given again (409).",
    again: "no",
    advice: "Use a new key for each new request.",
  },
  insufficient_storage: {
    statuses: [507],
    meaning: "No space is left: of the session, of the service's disk, or of its database.",
    again: "no",
    advice: "Delete files of the session that are not needed; where it is the service's own disk, tell the operator.",
  },
  internal_error: {
    statuses: [500, 502],
    meaning: "The service failed.",
    again: "soon",
    advice: "Repeat it; if it goes on, give the operator the `requestId`, under which the cause stands in the log.",
  },
  invalid_input: {
    statuses: [],
    meaning: "In `details` only: one field that does not fit. Its message begins with the field's path.",
    again: "no",
    advice: "Correct that field.",
  },
  last_active_project: {
    statuses: [409],
    meaning: "An organisation keeps one active project.",
    again: "no",
    advice: "Make another one with `projects.create` first.",
  },
  method_not_allowed: {
    statuses: [405],
    meaning: "The path exists, the method on it does not; `Allow` lists those that do.",
    again: "no",
    advice: "Use one of the methods that `Allow` names.",
  },
  name_taken: {
    statuses: [409],
    meaning: "Something of this kind has the name already.",
    again: "no",
    advice: "Choose another name, or use what has it.",
  },
  not_a_directory: {
    statuses: [400],
    meaning: "The path, or a part of it, is no directory.",
    again: "no",
    advice: "Look at its parts with `browsers.fs.fileInfo`.",
  },
  not_a_file: {
    statuses: [400],
    meaning: "The path is a directory, a pipe, a socket or a device.",
    again: "no",
    advice: "Name a regular file, or use the operations for directories.",
  },
  not_found: {
    statuses: [404],
    meaning: "It does not exist in this project, or has ended.",
    again: "no",
    advice: "List what there is; the message names the operation.",
  },
  not_implemented: {
    statuses: [501],
    meaning: "This version knows the operation, or the option, and cannot do it yet. Nothing was done.",
    again: "no",
    advice: "Leave the option away, or try a newer version; [Operations](../operations.md) lists what works.",
  },
  not_ready: {
    statuses: [503],
    meaning: "The service is not ready (`/ready`), or the visible page takes no input now.",
    again: "soon",
    advice: "Wait; answer a dialog that is open, or navigate the page elsewhere.",
  },
  overloaded: {
    statuses: [503],
    meaning: "The server has too much to do and refused the request before it began.",
    again: "soon",
    advice: "Repeat it after `Retry-After`, with fewer at a time.",
  },
  payload_too_large: {
    statuses: [413],
    meaning: "A body, a file, or an output is larger than what is taken; the message says how much is.",
    again: "no",
    advice: "Send less at a time, or use the streaming operation that the message names.",
  },
  permission_denied: {
    statuses: [403],
    meaning: "The session's user may not do that to the file, or the path leads out of the session.",
    again: "no",
    advice: "Look at owner and mode with `browsers.fs.fileInfo`, or use a path below the home directory.",
  },
  pool_in_use: {
    statuses: [409],
    meaning: "Browsers of the pool are leased.",
    again: "later",
    advice: "Release them with `browserPools.release`, or send `force: true`, which ends them.",
  },
  process_ended: {
    statuses: [409],
    meaning: "The process has ended, or has closed its standard input.",
    again: "no",
    advice: "Start another one with `browsers.process.spawn`.",
  },
  profile_in_use: {
    statuses: [409],
    meaning:
      "A browser saves its changes to the profile, of which there can be one at a time; or a browser or pool uses what is to be deleted. The message names it.",
    again: "later",
    advice: "Wait until that browser ends, or end it; to read only, leave `save_changes` away.",
  },
  project_not_empty: {
    statuses: [409],
    meaning: "The project still has something in it; the message says what.",
    again: "no",
    advice: "Delete that first, or archive the project.",
  },
  project_not_found: {
    statuses: [404],
    meaning: "The project of the key, of the header or of the body does not exist, or is archived.",
    again: "no",
    advice: "Leave the header away for the key's own project, or reopen the project with `projects.update`.",
  },
  protected_path: {
    statuses: [403],
    meaning: "The root or the home directory cannot be moved or deleted.",
    again: "no",
    advice: "Delete or move what is in it instead.",
  },
  proxy_check_failed: {
    statuses: [422],
    meaning: "The proxy was tried, and does not work.",
    again: "no",
    advice: "Check its host, port, protocol, user name and password.",
  },
  proxy_not_available: {
    statuses: [400],
    meaning: "The service provides no proxies of this type.",
    again: "no",
    advice: "Use type `custom` with a proxy server of your own.",
  },
  rate_limited: {
    statuses: [429],
    meaning: "The key, the organisation, or an address without a valid key has sent as many requests a minute as it may.",
    again: "soon",
    advice: "Wait as long as `Retry-After` says.",
  },
  server_unreachable: {
    statuses: [503],
    meaning: "Another server of the installation, which has the session or is in the region, does not answer.",
    again: "soon",
    advice: "Repeat it: a server that stays silent is given up within seconds, and its sessions end as `instance_lost`.",
  },
  shutting_down: {
    statuses: [503],
    meaning: "The server, or the session, is ending.",
    again: "soon",
    advice: "Repeat it where it is the server that stops; a session that ends does not come back.",
  },
  too_many_processes: {
    statuses: [429],
    meaning: "The session has as many processes as it may.",
    again: "later",
    advice: "End one with `browsers.process.kill`, or wait for one to end.",
  },
  too_many_requests: {
    statuses: [429],
    meaning:
      "As much runs at once as may: sessions of the project (`limit`, `used`, `remaining` say how many), pieces of code, readers, connections.",
    again: "later",
    advice: "End one, or wait for one to end: as long as `Retry-After` says, where it does.",
  },
  too_many_watches: {
    statuses: [429],
    meaning: "The session watches as many directories as it may.",
    again: "later",
    advice: "Stop one with `browsers.fs.watch.stop`, or watch a directory above with `recursive`.",
  },
  unauthorized: {
    statuses: [401],
    meaning: "There is no valid API key with the request, or the address carries no valid token.",
    again: "no",
    advice: "Send a key as `Authorization: Bearer …`; use addresses as the service gave them.",
  },
  unsafe_archive: {
    statuses: [400],
    meaning: "The archive has an entry that would lie outside of its folder, or is none that can be unpacked. Nothing was unpacked.",
    again: "no",
    advice: "Pack it again without the entry that the message names.",
  },
  unsupported_media_type: {
    statuses: [415],
    meaning: "The body's Content-Type is not one that the operation takes.",
    again: "no",
    advice: "Send the one that the message names, mostly `application/json`.",
  },
};
