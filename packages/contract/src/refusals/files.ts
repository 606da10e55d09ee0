import type { BrowserDownload } from "@shoal/schemas";
import { brokenUnicode, containsNul, invalid, notFound, type Refusal } from "./refusal.ts";

/** Action on a path, in words that follow "Cannot": `read`, `move to`. */
type Action = string;

/** 404 for a path that does not exist. */
export function pathMissing(action: Action, path: string): Refusal {
  return notFound(`Cannot ${action} ${path}: it does not exist.`, "List its directory with browsers.fs.listFiles.");
}

/** 404 for the deletion of a missing directory. */
export function directoryMissing(path: string): Refusal {
  return notFound(`Cannot delete ${path}: it does not exist.`, "Set missing_ok to ignore missing directories.");
}

const fileHints: Readonly<Record<Action, string>> = {
  delete: "Delete directories with browsers.fs.deleteDirectory.",
  read: "List directories with browsers.fs.listFiles, or download one with browsers.fs.downloadDirZip.",
  "unpack a file to": "Delete it first, or unpack into another directory.",
  write: "Use the path of a file.",
};

/** 400 for a path that must name a regular file. @param kind - what the path is: `a directory` */
export function notAFile(action: Action, path: string, kind: string): Refusal {
  return {
    status: 400,
    code: "not_a_file",
    problem: `Cannot ${action} ${path}: it is ${kind}.`,
    hint: fileHints[action] ?? "Use the path of a regular file.",
  };
}

const directoryHints: Readonly<Record<Action, string>> = {
  create: "Delete it first, or use another path.",
  delete: "Delete files with browsers.fs.deleteFile.",
  list: "Read files with browsers.fs.readFile.",
  "move to": "Delete it first, or use another path.",
  pack: "Read files with browsers.fs.readFile.",
  "unpack a directory to": "Delete it first, or unpack into another directory.",
  "unpack into": "Use a directory, or a path that does not exist.",
};

/** 400 for a path that must name a directory. @param kind - what the path is: `a file` */
export function notADirectory(action: Action, path: string, kind: string): Refusal {
  return {
    status: 400,
    code: "not_a_directory",
    problem: `Cannot ${action} ${path}: it is ${kind}.`,
    hint: directoryHints[action] ?? "Use the path of a directory.",
  };
}

/** 400 for a path below a file. */
export function parentNotADirectory(action: Action, path: string): Refusal {
  return {
    status: 400,
    code: "not_a_directory",
    problem: `Cannot ${action} ${path}: it is below something that is not a directory.`,
    hint: "Inspect the parts of the path with browsers.fs.fileInfo.",
  };
}

/** 413 for content over a limit. @param text - the limit with its unit, if it has one: `5 GiB` */
export function contentTooLarge(what: string, limit: number, text = String(limit)): Refusal {
  return {
    status: 413,
    code: "payload_too_large",
    problem: `${what} is larger than ${text}, the limit.`,
    limit,
    hint: "Send less at a time.",
  };
}

/** 403 for an action that the operating system does not permit. */
export function modeForbids(action: Action, path: string): Refusal {
  return {
    status: 403,
    code: "permission_denied",
    problem: `Cannot ${action} ${path}: the operating system does not permit it.`,
    hint: "Inspect owner and mode with browsers.fs.fileInfo, change them with browsers.fs.setFilePermissions, or use a path below the home directory.",
  };
}

/** 403 for a change of owner or group that the operating system does not permit. */
export function ownerUnchangeable(path: string, { uid, gid, user }: Record<"uid" | "gid" | "user", number>): Refusal {
  return {
    status: 403,
    code: "permission_denied",
    problem: `Cannot give ${path} to user ${String(uid)}, group ${String(gid)}: the session runs as user ${String(user)}, which has no right to change owners.`,
    hint: "Omit owner and group.",
  };
}

/** What a protected directory refuses; `close` takes rights of its owner away. */
export type ProtectedAction = "delete" | "move" | "close";

const protectedHints: Readonly<Record<ProtectedAction, string>> = {
  delete: "Delete its content instead.",
  move: "Move its content instead.",
  close: "Keep the rights of its owner, as in 700 and 755, or change its content instead.",
};

/** 403 for a directory that must stay as it is. @param reason - `it is the home directory` */
export function protectedPath(action: ProtectedAction, path: string, reason: string): Refusal {
  return {
    status: 403,
    code: "protected_path",
    problem: `Cannot ${action} ${path}: ${reason}.`,
    hint: protectedHints[action],
  };
}

/** 400 for a path with a loop of symbolic links. */
export function linkLoop(action: Action, path: string): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: `Cannot ${action} ${path}: its symbolic links lead in a circle, or through too many others.`,
    hint: "Use the path that the links should lead to.",
  };
}

/** 400 for a directory that is moved into itself. */
export function movedIntoItself(source: string, destination: string): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: `Cannot move ${source} to ${destination}: a directory cannot be moved into itself.`,
    hint: "Choose a destination outside of it.",
  };
}

/** 409 for a file that is moved to the path of a directory. */
export function destinationIsDirectory(source: string, destination: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Cannot move ${source} to ${destination}: it is an existing directory.`,
    hint: "Use a new path inside it, or delete it first.",
  };
}

/** 409 for a directory that is moved to the path of another entry. @param kind - what the destination is: `a file` */
export function directoryReplaces(source: string, destination: string, kind: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Cannot move ${source} to ${destination}: a directory does not replace ${kind}.`,
    hint: "Delete it first, or choose another destination.",
  };
}

const maxPathLength = 4096;

/** Returns the first problem in the text of a path, before it is normalised. */
export function pathProblem(field: string, path: string): Refusal | undefined {
  if (!path.startsWith("/")) return invalid(field, "must be absolute, beginning with /");
  if (path.length > maxPathLength)
    return invalid(field, `must have at most ${String(maxPathLength)} characters`, { limit: maxPathLength });
  if (path.includes("\0")) return containsNul(field);
  if (!path.isWellFormed()) return brokenUnicode(field);
  return undefined;
}

const maxNameBytes = 255;

/** Returns the problem with one name of a path, if any. */
export function nameProblem(name: string): string | undefined {
  const isTooLong = new TextEncoder().encode(name).length > maxNameBytes;
  return isTooLong ? `the name ${name.slice(0, 40)}… is longer than ${String(maxNameBytes)} bytes` : undefined;
}

/** 404 for a watch that does not exist. */
export function watchNotFound(id: string): Refusal {
  return notFound(
    `Watch ${id} was not found.`,
    "It may have been stopped, or its directory was deleted; start another with browsers.fs.watch.start.",
  );
}

/** 404 for a watch of a path that does not exist. */
export function watchedPathMissing(path: string): Refusal {
  return notFound(`${path} does not exist.`, "Create it with browsers.fs.createDirectory, then watch it.");
}

/** 400 for a watch of a file. */
export function watchedPathNotADirectory(path: string): Refusal {
  return {
    status: 400,
    code: "not_a_directory",
    problem: `${path} is not a directory.`,
    hint: "Watch its directory.",
  };
}

/** 429 for a watch over the limit of the session. */
export function tooManyWatches(limit: number): Refusal {
  return {
    status: 429,
    code: "too_many_watches",
    problem: `The session has ${String(limit)} watches, the limit.`,
    limit,
    hint: 'Stop one with browsers.fs.watch.stop, or watch a parent directory with "recursive".',
  };
}

/** 400 for a `Last-Event-ID` that the stream never sent. @param source - of the events: `this watch` */
export function foreignEventId(source: string, latest: number): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: `Last-Event-ID is not an id of ${source} (the latest is ${String(latest)}).`,
    hint: "Send the id of a received event, or omit the header to get the buffered events.",
  };
}

/** 404 for a download that is not in the list. */
export function downloadNotFound(id: string): Refusal {
  return notFound(`This session has no download ${id.slice(0, 100)}.`, "List downloads with browsers.downloads.list.");
}

/** 404 for an `after` that is not a finished download of the list. */
export function downloadNotFinished(id: string): Refusal {
  return {
    ...notFound(
      `this session has no finished download ${id.slice(0, 100)}.`,
      "Omit after to get the oldest finished download that is listed.",
    ),
    field: "body.after",
  };
}

/** 404 for the content of a download without a complete file. */
export function downloadWithoutFile({ download_id, state }: Pick<BrowserDownload, "download_id" | "state">): Refusal {
  return notFound(
    `Download ${download_id} has no complete file: its state is ${state}.`,
    "Wait for it with browsers.downloads.wait.",
  );
}
