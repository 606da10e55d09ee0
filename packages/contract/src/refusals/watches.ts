import { notFound, type Refusal } from "./refusal.ts";

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
