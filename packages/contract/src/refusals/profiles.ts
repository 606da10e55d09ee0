import { nameTaken, notFound, type Refusal } from "./refusal.ts";

/** 404 for a profile that the caller cannot see. */
export function profileNotFound(idOrName: string): Refusal {
  return notFound(
    `Profile ${idOrName} was not found in this project.`,
    "List the profiles with profiles.list, or create it with profiles.create.",
  );
}

/** 409 for the name of another profile of the project. */
export function profileNameTaken(name: string): Refusal {
  return nameTaken(
    `A profile named ${JSON.stringify(name)} already exists in this project.`,
    "Choose another name, or use that profile.",
  );
}

/** 409 for a change to a profile that a running session uses. */
export function profileUsedByBrowser(profile: string, sessionId: string): Refusal {
  return {
    status: 409,
    code: "profile_in_use",
    problem: `Browser ${sessionId} uses profile ${profile}.`,
    hint: "End the browser first.",
  };
}

/**
 * 409 for a second session that saves its changes to a profile.
 * @param wayOut - another next step than to wait: `or omit save_changes.`
 */
export function profileHasWriter(profile: string, sessionId: string, wayOut = "or omit save_changes."): Refusal {
  return {
    status: 409,
    code: "profile_in_use",
    problem: `Browser ${sessionId} saves its changes to profile ${profile}; only one session at a time may write to a profile.`,
    hint: `Wait until it ends, or end it; ${wayOut}`,
  };
}
