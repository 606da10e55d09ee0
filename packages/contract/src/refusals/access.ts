import type { Refusal } from "./refusal.ts";

/** Why a request is not authenticated. */
export const keyProblems = {
  absent: "The request has no API key.",
  notBearer: "The Authorization header is not of the form Bearer KEY.",
  unknown: "The API key is unknown or was deleted.",
  /** For a key that has expired. */
  expired: (at: Date) => `The API key expired at ${at.toISOString()}.`,
} as const;

/**
 * 401 for a request without a valid key.
 * @param source - where a caller gets a key: `create keys with apiKeys.create.`
 */
export function unauthorized(problem: string, source: string): Refusal {
  return {
    status: 401,
    code: "unauthorized",
    problem,
    hint: `Send a valid key as "Authorization: Bearer sk_shoal_…"; ${source}`,
  };
}

/** 404 for a key whose project was deleted or archived. @param archivedName - `undefined` for a deleted project. */
export function keyProjectUnavailable(archivedName: string | undefined): Refusal {
  if (archivedName === undefined)
    return {
      status: 404,
      code: "project_not_found",
      problem: "The project of this API key was deleted.",
      hint: "Use a key of another project.",
    };
  return {
    status: 404,
    code: "project_not_found",
    problem: `The project of this API key, ${archivedName}, is archived.`,
    hint: "Reopen it with projects.update, with a key of the whole organisation.",
  };
}

/** For the project that a header names. */
export function namedProjectUnavailable(name: string, state: "missing" | "archived"): Refusal {
  const [problem, hint] =
    state === "missing"
      ? ["was not found", "Omit the project header for the default project."]
      : ["is archived", "Reopen it with projects.update, or omit the project header for the default project."];
  return { status: 404, code: "project_not_found", problem: `Project ${name} ${problem}.`, hint };
}

/** 403 for a project's key in a request to another project. */
export function otherProjectOfKey(name: string): Refusal {
  return {
    status: 403,
    code: "forbidden",
    problem: `This API key opens only its own project, not ${name}.`,
    hint: "Omit the project header, or use a key of that project.",
  };
}
