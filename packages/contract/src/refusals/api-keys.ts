import { invalid, notFound, type Refusal } from "./refusal.ts";

/** 404 for a key that does not exist or was deleted. */
export function apiKeyNotFound(id: string): Refusal {
  return notFound(`API key ${id} was not found, or was deleted.`, "List the keys with apiKeys.list.");
}

/** A project's key cannot create keys for another project. */
export function keyForOtherProject(projectId: string): Refusal {
  return {
    status: 403,
    code: "forbidden",
    problem: `This API key can create keys for its own project only, not for ${projectId}.`,
    hint: "Omit project_id, or use an organisation-wide key.",
  };
}

/** 404 for a new key of a project that does not exist. */
export function keyProjectNotFound(projectId: string): Refusal {
  return {
    status: 404,
    code: "project_not_found",
    problem: `Project ${projectId} was not found.`,
    hint: "Set project_id to the id of a project; list them with projects.list.",
  };
}

/** 400 for a key that deletes itself. */
export function keyDeletesItself(): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: "An API key cannot delete itself.",
    hint: "Delete it with another key, or rotate it with expire_in_days 0.",
  };
}

/** The successor of a key would expire before the key. */
export function successorExpiresFirst(days: number, graceDays: number): Refusal {
  return invalid(
    "body.days_to_expire",
    `the new key would live ${String(days)} days, and the old one ${String(graceDays)}`,
    {
      limit: graceDays,
      hint: `Set expire_in_days to ${String(days)} or less, or days_to_expire to ${String(graceDays)} or more.`,
    },
  );
}
