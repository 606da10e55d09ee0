import { invalid, notFound, type Refusal } from "./refusal.ts";

/** 404 for a connection that the caller cannot see. */
export function connectionNotFound(id: string): Refusal {
  return notFound(
    `Connection ${id} was not found in this project.`,
    "List the connections with auth.connections.list, or create it with auth.connections.create.",
  );
}

/** 409 for the second connection of a profile to a site. */
export function connectionExists(profile: string, domain: string, existingId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Connection ${existingId} connects profile ${JSON.stringify(profile)} to ${domain} already.`,
    hint: "Use that connection, or delete it first.",
    fields: { existing_id: existingId },
  };
}

/** 400 for checks that follow each other faster than the operator allows. */
export function checkIntervalTooShort(seconds: number, limit: number): Refusal {
  return invalid("body.health_check_interval", `has ${String(seconds)} s between two checks`, {
    limit,
    hint: `The limit is ${String(limit)} s (min_health_check_seconds).`,
  });
}

/** 404 for a credential provider that the caller cannot see. */
export function providerNotFound(field: string, name: string): Refusal {
  return {
    ...notFound(
      `credential provider ${name} was not found in this project`,
      "List the providers with credentialProviders.list.",
    ),
    field,
  };
}

/** 400 for the deletion of a proxy that a connection names. */
export function proxyUsedByConnection(proxy: string, connectionId: string): Refusal {
  return {
    status: 400,
    code: "resource_in_use",
    problem: `Connection ${connectionId} uses proxy ${proxy}.`,
    hint: "Give the connection another proxy with auth.connections.update, or delete it first.",
  };
}

/** 409 for the deletion of a profile that a connection keeps signed in. */
export function profileUsedByConnection(profile: string, connectionId: string): Refusal {
  return {
    status: 409,
    code: "profile_in_use",
    problem: `Connection ${connectionId} stores its login in profile ${profile}.`,
    hint: "Delete the connection first.",
  };
}

/** 409 for a second login of a connection. */
export function loginInProgress(connectionId: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `A login of connection ${connectionId} is in progress.`,
    hint: "Follow it with auth.connections.follow, or end it with auth.connections.cancel.",
  };
}

/** 404 for an answer or a follower without a login. */
export function noLogin(connectionId: string): Refusal {
  return notFound(`Connection ${connectionId} has no login.`, "Start one with auth.connections.login.");
}

/** 422 for an answer when no question is open: the login works, or is over. */
export function loginAsksNothing(connectionId: string): Refusal {
  return {
    status: 422,
    code: "bad_request",
    problem: `The login of connection ${connectionId} waits for no answer.`,
    hint: "Follow it with auth.connections.follow; its next question has a new interaction_id.",
  };
}

/**
 * 422 for an answer that does not fit the question, 400 for an answer to an earlier one, which the vendor's sign-in
 * component reads as "get the connection again". @param unfit - of `answerTo` of `@shoal/contract/logins`.
 */
export function unfitAnswer({
  field,
  isStale = false,
  problem,
}: {
  readonly field: string;
  readonly problem: string;
  readonly isStale?: boolean;
}): Refusal {
  const hint = "Get the connection for its fields and choices.";
  if (isStale) return { status: 400, code: "stale_interaction", problem, field, hint };
  return { status: 422, code: "bad_request", problem, field, hint };
}

/** 404 for a code that the service has not issued for the connection. Does not tell whether the connection exists. */
export function handoffUnknown(): Refusal {
  return notFound("This sign-in link is invalid.", "Copy the whole hosted_url, or ask for a new one.");
}

/** Why a sign-in link does not work any more. */
export type HandoffEnd = keyof typeof handoffEnds;

const handoffEnds = {
  used: "This sign-in link was used already.",
  expired: "This sign-in link has expired.",
  ended: "The login of this sign-in link has ended.",
} as const;

/** 410 for a code that was used, or whose login is over. The code of its only detail is the reason. */
export function handoffExpired(reason: HandoffEnd): Refusal {
  const problem = handoffEnds[reason];
  return {
    status: 410,
    code: "link_expired",
    problem,
    hint: "Ask for a new link: auth.connections.get returns one while the login runs.",
    details: [{ code: reason, message: problem }],
  };
}

/** 401 for the token of a sign-in page after the end of its login. */
export function handoffTokenExpired(): Refusal {
  return {
    status: 401,
    code: "unauthorized",
    problem: "This sign-in has ended.",
    hint: "Ask for a new link.",
  };
}
