import { ServiceError } from "@shoal/router";

export function notFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Browser pool ${idOrName} was not found in this project.`, {
    hint: "List the pools with browserPools.list, or create it with browserPools.create.",
  });
}

export function nameTaken(name: string): ServiceError {
  return new ServiceError(
    409,
    "name_taken",
    `A browser pool named ${JSON.stringify(name)} exists in this project already.`,
    { hint: "Choose another name, or use that pool." },
  );
}

export function sessionNameTaken(name: string): ServiceError {
  return new ServiceError(409, "name_taken", `A running session of this project is named ${name} already.`, {
    hint: "Choose another name, or end that session.",
  });
}

export function stopping(): ServiceError {
  return new ServiceError(503, "shutting_down", "The server is stopping.", {
    hint: "Repeat the request in a moment.",
    retryAfterSeconds: 2,
  });
}

export function inUse(idOrName: string, leased: number): ServiceError {
  const browsers = leased === 1 ? "1 browser" : `${String(leased)} browsers`;
  return new ServiceError(
    409,
    "pool_in_use",
    `${browsers} of pool ${idOrName} ${leased === 1 ? "is" : "are"} leased.`,
    { hint: "Release them first with browserPools.release, or end them too with force: true." },
  );
}

export function notLeased(sessionId: string, idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Browser ${sessionId} is not leased from pool ${idOrName}.`, {
    hint: "It may have been released, or have ended with its timeout.",
  });
}

export function staleNetwork(): ServiceError {
  return new ServiceError(
    409,
    "stale_network",
    "the network settings of the pool are other ones; nothing was changed",
    {
      field: "body.expected_network",
      hint: "Read the pool again with browserPools.get, and repeat the change if it still applies.",
    },
  );
}

export function hasProfile(idOrName: string): ServiceError {
  return new ServiceError(409, "conflict", `Browsers of pool ${idOrName} have the profile of the pool.`, {
    field: "body.profile",
    hint: "Omit profile, or use a pool without a profile.",
  });
}

/** A lease can end on a server that does not run its browser. */
export function leaseNeverSaves(): ServiceError {
  return new ServiceError(400, "bad_request", "a browser of a pool does not save to a profile", {
    field: "body.profile.save_changes",
    hint: "Omit it, or create a session with browsers.create.",
  });
}

export function needsVaults(idOrName: string): ServiceError {
  return new ServiceError(403, "forbidden", `Pool ${idOrName} has vaults, and the caller may not use all of them.`, {
    hint: "Use the key of an administrator, or a key with vaults:use on the project.",
  });
}

export function needsVaultsOfProject(): ServiceError {
  return new ServiceError(403, "forbidden", "needs the right to use the vaults of the project", {
    field: "body.vaults",
    hint: "Use the key of an administrator, or a key with vaults:use on the project.",
  });
}
