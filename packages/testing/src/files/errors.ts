import { badInput, ServiceError } from "@shoal/router";

/** The request does not fit; `field` names the part of it, as the router's own 400s do: `body.path: must be absolute`. */
export function invalidInput(field: string, message: string): ServiceError {
  return badInput(`${field}: ${message}`);
}

/** 404 that names the path. */
export function notFound(action: string, path: string): ServiceError {
  return new ServiceError(404, "not_found", `Cannot ${action} ${path}: it does not exist. List its directory with list_files.`);
}

/** 400 for something that is no regular file. */
export function notAFile(action: string, path: string, what: string): ServiceError {
  return new ServiceError(400, "not_a_file", `Cannot ${action} ${path}: it is ${what}. Name a file, or use the directory operations.`);
}

/** 400 for something that is no directory. */
export function notADirectory(action: string, path: string, what: string): ServiceError {
  return new ServiceError(400, "not_a_directory", `Cannot ${action} ${path}: it is ${what}. Name a directory, or use the file operations.`);
}

/** 413 that names the limit. */
export function tooLarge(what: string, limit: string): ServiceError {
  return new ServiceError(413, "payload_too_large", `${what} is larger than ${limit}, the most that the fake takes. Send less at a time.`);
}

/** 400 that names an archive's entry. */
export function unsafe(name: string, reason: string): ServiceError {
  return new ServiceError(
    400,
    "unsafe_archive",
    `The archive is refused because of its entry ${JSON.stringify(name.slice(0, 200))}: ${reason}. Nothing was unpacked.`,
  );
}

/** 403 for what a file's mode does not permit. */
export function notPermitted(action: string, path: string): ServiceError {
  return new ServiceError(
    403,
    "permission_denied",
    `Cannot ${action} ${path}: its mode does not permit it. Look at owner and mode with file_info, change them with set_file_permissions.`,
  );
}
