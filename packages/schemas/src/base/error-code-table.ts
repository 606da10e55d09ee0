import type { ErrorCodeEntry } from "./error-code-entry.ts";
import type { KnownErrorCode } from "./error.ts";

/** All codes that Shoal sends, for docs/guide/error-codes.md. Separate from the codes, so that bundles do not contain it. A test compares it with the sources. */
export const errorCodeTable: Readonly<Record<KnownErrorCode, ErrorCodeEntry>> = {
  ambiguous_target: {
    statuses: [409],
    meaning: "Several elements of the page match. The message lists them with their references.",
    again: "no",
    advice: "Name the element by its `ref`, or by more of its `name`.",
  },
  audit_export_not_available: {
    statuses: [400],
    meaning: "The service does not export its audit log.",
    again: "no",
    advice: "Ask the operator to configure AWS credentials for the export.",
  },
  bad_gateway: {
    statuses: [502],
    meaning:
      "An upstream did not answer, or sent an invalid response: the site of `browsers.curl`, the Chrome Web Store, the session's instance.",
    again: "soon",
    advice: "See `net_error_name`, if present. Repeat the request if it is safe to repeat.",
  },
  bad_request: {
    statuses: [400, 408, 417, 422, 431],
    meaning:
      "The request is invalid. `details` names each invalid field; 408: the body did not arrive in time; 422: the login does not wait for this answer; 431: the headers are too large.",
    again: "no",
    advice: "Correct the fields that the message names.",
  },
  blob_store_unavailable: {
    statuses: [503],
    meaning: "The bucket with the service's extensions and profiles cannot be used; nothing was changed.",
    again: "soon",
    advice: "Try again. If it persists, contact the operator.",
  },
  browser_not_running: {
    statuses: [409, 503],
    meaning: "The browser of the session is starting, ending, or has crashed. A crashed one is restarted once.",
    again: "soon",
    advice: "Get the session with `browsers.get` and `include_deleted`. Try again if it runs, or create another.",
  },
  call_cut_off: {
    statuses: [409],
    meaning:
      "The call with this `Idempotency-Key` lost its connection, was not repeated within 5 seconds, and was stopped halfway.",
    again: "no",
    advice: "Check which effects it had, and send the rest with a new key.",
  },
  capacity_exhausted: {
    statuses: [529],
    meaning: "The server has reached its limit of sessions, or the cluster of its sessions has no room.",
    again: "soon",
    advice: "Wait for the time in `Retry-After`, or keep a browser pool. The operator can raise `max_sessions`.",
  },
  conflict: {
    statuses: [409],
    meaning:
      "The current state does not allow the request: the resource exists already, has ended, is being watched or recorded, or a fixed limit is reached.",
    again: "no",
    advice:
      "The message names the conflict. With `Retry-After`, try again: another request with the same Idempotency-Key is still running.",
  },
  database_unavailable: {
    statuses: [503],
    meaning: "The service's database is unreachable or overloaded.",
    again: "soon",
    advice: "Try again after `Retry-After`. If it persists, contact the operator.",
  },
  dialog_open: {
    statuses: [409],
    meaning: "A dialog of the page (`alert`, `confirm`, `prompt`, `beforeunload`) is open and blocks it.",
    again: "no",
    advice: "Answer the dialog with `answer_dialog` first. The message shows its text.",
  },
  directory_busy: {
    statuses: [409],
    meaning: "The directory could not be deleted completely, because a process keeps writing into it.",
    again: "later",
    advice: "End the process and try again.",
  },
  element_not_found: {
    statuses: [404],
    meaning: "No element of the page matches. The message lists similar elements.",
    again: "soon",
    advice: "Observe the page, and use a reference of its outline.",
  },
  encryption_key_mismatch: {
    statuses: [400],
    meaning: "The value was encrypted to another key than that of the vault. Nothing was changed.",
    again: "no",
    advice: "Get the key with `vaults.encryptionKey`, encrypt the value again, and send its `kid`.",
  },
  forbidden: {
    statuses: [403],
    meaning: "The key is valid but has no access to this resource.",
    again: "no",
    advice: "Use a key of that project, or an organisation-wide key.",
  },
  handoff_active: {
    statuses: [409],
    meaning: "A person controls the session, or was asked to. Input and changes by programs are paused; reading works.",
    again: "later",
    advice: "Wait with `browsers.handoff.get` and `wait_seconds`, or end it with `browsers.handoff.release`.",
  },
  idempotency_conflict: {
    statuses: [409, 422],
    meaning: "The Idempotency-Key was used for another request, or its first answer cannot be given again (409).",
    again: "no",
    advice: "Use a new key for each new request.",
  },
  insufficient_scope: {
    statuses: [403],
    meaning: "The policy of the API key does not allow the operation, or an object that the request names.",
    again: "no",
    advice: "Use a key whose policy allows it. `auth.context.get` shows the policy of the calling key.",
  },
  insufficient_storage: {
    statuses: [507],
    meaning: "No space left in the session, on the service's disk, or in its database.",
    again: "no",
    advice: "Delete unneeded files of the session. If the service's disk is full, contact the operator.",
  },
  internal_error: {
    statuses: [500, 502],
    meaning: "The service failed.",
    again: "soon",
    advice: "Try again. If it persists, give the operator the `requestId`; the log has the cause under it.",
  },
  invalid_browser_location: {
    statuses: [400],
    meaning: "The browser cannot have this time zone or locale.",
    again: "no",
    advice: "Use the name that the message suggests.",
  },
  invalid_input: {
    statuses: [],
    meaning: "In `details` only: an invalid field. `field` is its path.",
    again: "no",
    advice: "Correct that field.",
  },
  last_active_project: {
    statuses: [409],
    meaning: "The last active project cannot be archived or deleted.",
    again: "no",
    advice: "Create another project with `projects.create` first.",
  },
  link_expired: {
    statuses: [410],
    meaning: "A link to a sign-in page or to the console was used or has expired.",
    again: "no",
    advice:
      "Get a new `hosted_url` with `auth.connections.get`, or start the login again. For the console, run `shoal console`.",
  },
  method_not_allowed: {
    statuses: [405],
    meaning: "The path does not support the method; `Allow` lists the supported ones.",
    again: "no",
    advice: "Use one of the methods that `Allow` names.",
  },
  name_taken: {
    statuses: [409],
    meaning: "Something of this kind has the name already.",
    again: "no",
    advice: "Choose another name, or use the existing resource.",
  },
  navigation_failed: {
    statuses: [409],
    meaning: "The tab could not open the address, or has no page to go back or forward to. The message has the reason.",
    again: "no",
    advice: "Check the address and the network policy of the session.",
  },
  not_a_directory: {
    statuses: [400],
    meaning: "The path, or a part of it, is not a directory.",
    again: "no",
    advice: "Check its parts with `browsers.fs.fileInfo`.",
  },
  not_a_file: {
    statuses: [400],
    meaning: "The path is a directory, a pipe, a socket or a device.",
    again: "no",
    advice: "Name a regular file, or use the operations for directories.",
  },
  not_actionable: {
    statuses: [409],
    meaning:
      "The element was not ready for the action within `timeout_ms`: not visible, moving, disabled, read-only or covered. Or the action does not apply to it.",
    again: "soon",
    advice: "The message names the obstacle. Remove it, observe the page again, or use another action.",
  },
  not_found: {
    statuses: [404],
    meaning: "It does not exist in this project, or has ended.",
    again: "no",
    advice: "List the resources; the message names the operation.",
  },
  not_implemented: {
    statuses: [428, 501],
    meaning: "The service does not implement the operation, the option or the version of a protocol. Nothing was done.",
    again: "no",
    advice: "Omit the option, or try a newer version; [Operations](../operations.md) lists what works.",
  },
  not_ready: {
    statuses: [503],
    meaning:
      "The service is not ready (`/ready`), the cluster of its sessions does not answer, or the visible page does not take input.",
    again: "soon",
    advice: "Wait, answer an open dialog, or navigate the page.",
  },
  outcome_unknown: {
    statuses: [504],
    meaning: "The call of a tool began, and its result is unknown: its tab went, a dialog opened, or the time ended.",
    again: "no",
    advice: "Observe the page: the tool may have had effects.",
  },
  overloaded: {
    statuses: [503],
    meaning: "The server, or the machine of the session, is overloaded. Nothing of the request was done.",
    again: "soon",
    advice: "Try again after `Retry-After`, with fewer concurrent requests.",
  },
  page_not_responding: {
    statuses: [409],
    meaning: "The page does not answer: a script blocks it, a dialog is open, or its content is too large.",
    again: "soon",
    advice: "Try again, answer its dialog, or navigate it to another address.",
  },
  payload_too_large: {
    statuses: [413],
    meaning: "A body, a file, or an output exceeds its limit; the message states it.",
    again: "no",
    advice: "Send less at a time, or use the streaming operation that the message names.",
  },
  permission_denied: {
    statuses: [403],
    meaning: "The session's user lacks permission for the file, or the path is outside the session.",
    again: "no",
    advice: "Check owner and mode with `browsers.fs.fileInfo`, or use a path below the home directory.",
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
      "Another browser saves to the profile (only one may), or a browser or pool uses the resource that you delete. The message names it.",
    again: "later",
    advice: "Wait until that browser ends, or end it; to read only, omit `save_changes`.",
  },
  project_not_empty: {
    statuses: [409],
    meaning: "The project is not empty; the message names the contents.",
    again: "no",
    advice: "Delete the contents first, or archive the project.",
  },
  project_not_found: {
    statuses: [404],
    meaning: "The project of the key, of the header or of the body does not exist, or is archived.",
    again: "no",
    advice: "Omit the header to use the key's project, or reopen the project with `projects.update`.",
  },
  protected_path: {
    statuses: [403],
    meaning: "The root or the home directory cannot be moved or deleted.",
    again: "no",
    advice: "Delete or move its contents instead.",
  },
  proxy_check_failed: {
    statuses: [422],
    meaning: "The proxy was tested and does not work.",
    again: "no",
    advice: "Check its host, port, protocol, user name and password.",
  },
  proxy_not_available: {
    statuses: [400],
    meaning: "The service provides no proxies of this type.",
    again: "no",
    advice: "Use type `custom` with your own proxy server.",
  },
  rate_limited: {
    statuses: [429],
    meaning: "The key, the organisation, or an address without a valid key has exceeded its requests per minute.",
    again: "soon",
    advice: "Wait for the time in `Retry-After`.",
  },
  resource_in_use: {
    statuses: [400],
    meaning: "A connection of a profile to a site uses the resource that you delete. The message names it.",
    again: "later",
    advice: "Change that connection with `auth.connections.update`, or delete it first.",
  },
  server_unreachable: {
    statuses: [503],
    meaning: "The server with the session, or in the region, does not respond.",
    again: "soon",
    advice: "Try again: a server that stays silent is removed within seconds, and its sessions end as `instance_lost`.",
  },
  shutting_down: {
    statuses: [503],
    meaning: "The server, or the session, is ending.",
    again: "soon",
    advice: "Try again if the server is stopping. An ended session does not come back.",
  },
  snapshot_incompatible: {
    statuses: [409],
    meaning: "The snapshot needs another processor, kernel, browser or version of Shoal, which the message names.",
    again: "no",
    advice: "Use a server like the original one, or take a snapshot with `mode: restored`.",
  },
  stale_interaction: {
    statuses: [400],
    meaning: "The answer belongs to an earlier question of the login.",
    again: "no",
    advice: "Get the connection, and answer its present question with its `interaction_id`.",
  },
  stale_network: {
    statuses: [409],
    meaning: "The network settings changed since they were read; nothing was changed.",
    again: "no",
    advice: "Read them again with `browsers.get` or `browserPools.get`, and repeat the change if it still applies.",
  },
  stale_reference: {
    statuses: [409],
    meaning: "The element of a reference was removed from the page, or the reference is unknown.",
    again: "no",
    advice: "Observe the page again, and use a reference of the new outline.",
  },
  too_many_processes: {
    statuses: [429],
    meaning: "The session has reached its limit of processes.",
    again: "later",
    advice: "End one with `browsers.process.kill`, or wait for one to end.",
  },
  too_many_requests: {
    statuses: [429],
    meaning:
      "A concurrency limit is reached: sessions of the project (see `limit`, `used`, `remaining`), code executions, readers, or connections.",
    again: "later",
    advice: "End one, or wait for the time in `Retry-After`, if present.",
  },
  too_many_watches: {
    statuses: [429],
    meaning: "The session has reached its limit of watches.",
    again: "later",
    advice: "Stop one with `browsers.fs.watch.stop`, or watch a directory above with `recursive`.",
  },
  tool_failed: {
    statuses: [409],
    meaning: "A tool of the page threw an error, was cancelled, or returned too much. The message quotes the page.",
    again: "soon",
    advice: "Check the arguments against the tool's `input_schema`, or use the page itself.",
  },
  tool_not_found: {
    statuses: [404],
    meaning: "The page has no tool with this name. The message lists its tools.",
    again: "soon",
    advice: "List the tools of the page.",
  },
  tool_timeout: {
    statuses: [409],
    meaning: "A tool of the page did not answer within `timeout_seconds`. It was cancelled.",
    again: "soon",
    advice: "Observe the page: the tool may have had effects. Or wait longer.",
  },
  unauthorized: {
    statuses: [401],
    meaning: "The request has no valid API key, or the URL has no valid token.",
    again: "no",
    advice: "Send a key as `Authorization: Bearer …`. Use URLs unchanged.",
  },
  unsafe_archive: {
    statuses: [400],
    meaning: "The archive has an entry outside its folder, or cannot be unpacked. Nothing was unpacked.",
    again: "no",
    advice: "Pack it again without the entry in the message.",
  },
  unsupported_media_type: {
    statuses: [415],
    meaning: "The operation does not accept the body's Content-Type.",
    again: "no",
    advice: "Use the type in the message, usually `application/json`.",
  },
  wait_timeout: {
    statuses: [409],
    meaning: "The state that `wait_for` names did not occur within `timeout_ms`.",
    again: "soon",
    advice: "Observe the page, or wait longer.",
  },
};
