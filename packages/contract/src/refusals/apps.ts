import { invalid, notFound, type Refusal } from "./refusal.ts";

/** 404 for a deployment that the caller cannot see. */
export function deploymentNotFound(id: string): Refusal {
  return notFound(
    `Deployment ${id} was not found in this project.`,
    "It may have been deleted; list deployments with deployments.list.",
  );
}

const cannotRunAgain = (problem: string, hint: string): Refusal => ({ status: 409, code: "conflict", problem, hint });

/** 409 for a rollback to a deployment whose build has not ended. */
export function deploymentStillBuilds(id: string): Refusal {
  return cannotRunAgain(
    `Deployment ${id} has not ended its build.`,
    "It replaces the running deployment when the build ends; follow it with deployments.follow.",
  );
}

/** 409 for a rollback to a deployment that failed, or that a newer one replaced before its build ended. */
export function deploymentNeverRan(id: string): Refusal {
  return cannotRunAgain(
    `Deployment ${id} has never run, so it has no version to return to.`,
    "Choose a deployment that was running; list deployments with deployments.list.",
  );
}

/** 409 for a rollback to the deployment that runs. */
export function deploymentRunsAlready(id: string): Refusal {
  return cannotRunAgain(
    `Deployment ${id} is running already.`,
    "Choose an earlier deployment; list deployments with deployments.list.",
  );
}

/** 409 for a rollback to a deployment whose build the service has removed. */
export function deploymentBuildGone(id: string): Refusal {
  return cannotRunAgain(
    `The build of deployment ${id} was removed; the service keeps the builds of the last 20 replaced deployments of a project.`,
    "Deploy its sources again with deployments.create.",
  );
}

/** 409 for a rollback to a deployment whose build this server cannot read. @param place - ends a message that begins with "… is not". */
export function deploymentBuildMissing(id: string, place: string): Refusal {
  return cannotRunAgain(
    `The build of deployment ${id} is not ${place}`,
    "Deploy its sources again with deployments.create.",
  );
}

/** 404 for an invocation that the caller cannot see. */
export function invocationNotFound(id: string): Refusal {
  return notFound(`Invocation ${id} was not found in this project.`, "List invocations with invocations.list.");
}

/** 404 for a version of an app that does not run. */
export function appVersionNotFound(app: string, version: string): Refusal {
  return notFound(
    `App ${app} has no running version ${version} in this project.`,
    "List apps and their versions with apps.list, or deploy it with deployments.create.",
  );
}

/** 404 for an action that the version of the app does not have. */
export function actionNotFound(
  { action, app, version }: { readonly action: string; readonly app: string; readonly version: string },
  actions: readonly string[],
): Refusal {
  return {
    status: 404,
    code: "not_found",
    field: "body.action_name",
    problem: `Version ${version} of app ${app} has no action ${action}. It has ${actions.join(", ")}.`,
  };
}

/** 404 for a schedule that the caller cannot see. */
export function scheduleNotFound(id: string): Refusal {
  return notFound(
    `Schedule ${id} was not found in this project.`,
    "It ends with the deployment of its app, or with its flow; list schedules with schedules.list.",
  );
}

/** 409 for a schedule over the limit of its app. */
export function tooManySchedules(app: string, limit: number): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `App ${app} has ${String(limit)} schedules, the limit.`,
    limit,
    hint: "Delete one with schedules.delete.",
  };
}

/** 409 for a schedule over the limit of its flow. */
export function tooManyFlowSchedules(flowId: string, limit: number): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Flow ${flowId} has ${String(limit)} schedules, the limit.`,
    limit,
    hint: "Delete one with schedules.delete.",
  };
}

/** 409 for a program of an app whose key has ended with the limited key that deployed it. */
export function deployerKeyEnded(deploymentId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `The API key that made deployment ${deploymentId} has expired or was deleted, and the key of the app ended with it.`,
    hint: "Deploy the app again with a valid key.",
  };
}

/** 404 for `browsers.create` with the id of an invocation that the caller cannot see. */
export function browserOfMissingInvocation(invocationId: string): Refusal {
  return {
    ...invocationNotFound(invocationId),
    field: "body.invocation_id",
    hint: "List invocations with invocations.list, or omit the field.",
  };
}

/** 409 for `browsers.create` with the id of an invocation that has ended. */
export function browserOfEndedInvocation(invocationId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Invocation ${invocationId} has ended and cannot start browsers.`,
    field: "body.invocation_id",
    hint: "Omit the field to start a session that belongs to no invocation.",
  };
}

/** Environment variables that the service sets; given values are ignored. */
export const reservedVariables: ReadonlySet<string> = new Set([
  "KERNEL_API_KEY",
  "SHOAL_API_KEY",
  "SHOAL_PUBLIC_URL",
  "ENTRYPOINT_RELPATH",
]);

/** Normalizes a path of an archive. Returns `undefined` for a path that leaves the archive. */
export function pathInSources(path: string): string | undefined {
  if (path.includes("\0") || /^(?:[\\/]|[A-Za-z]:)/.test(path)) return undefined;
  const names: string[] = [];
  for (const name of path.split(/[\\/]/)) {
    if (name === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (name !== "" && name !== ".") names.push(name);
  }
  return names.length === 0 ? "." : names.join("/");
}

/** 400 for an entry file or a folder outside of the sources. */
export function outsideSources(field: string, path: string): Refusal {
  return invalid(field, `${JSON.stringify(path.slice(0, 200))} must be a relative path inside the sources`);
}

/** 400 for an environment variable whose name no shell accepts. */
export function variableNameExpected(name: string): Refusal {
  return invalid(`body.env_vars.${name.slice(0, 100)}`, "expected a name of letters, digits and underscores");
}

/** 400 for a source that is not the address of a repository. */
export function repositoryExpected(): Refusal {
  return invalid(
    "body.source.url",
    "expected the address of a repository, https://github.com/OWNER/NAME, without a branch or folder",
  );
}

/** 400 for a field that only asynchronous invocations have. */
export function needsAsync(field: "max_retries" | "queue"): Refusal {
  return invalid(`body.${field}`, "needs async", {
    hint: "Set async to true, and read the result with invocations.follow",
  });
}

/** 429 at the limit of a project. */
export function projectRunsTooManyInvocations({
  limit,
  used,
}: {
  readonly limit: number;
  readonly used: number;
}): Refusal {
  return {
    status: 429,
    code: "too_many_requests",
    problem: `This project has ${String(used)} running invocations; the limit is ${String(limit)}.`,
    hint: "Wait until one ends, or raise the limit with projects.limits.update, or for all projects with the setting max_invocations_per_project.",
    retryAfterSeconds: 2,
    fields: { limit, used, remaining: Math.max(0, limit - used) },
  };
}
