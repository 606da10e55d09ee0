export { containsNul, invalid, type Refusal, unstorable } from "./refusal.ts";
export {
  keyProblems,
  keyProjectUnavailable,
  namedProjectUnavailable,
  otherProjectOfKey,
  unauthorized,
} from "./access.ts";
export {
  apiKeyNotFound,
  keyDeletesItself,
  keyForOtherProject,
  keyProjectArchived,
  keyProjectNotFound,
  successorExpiresFirst,
} from "./api-keys.ts";
export {
  actionNotFound,
  appVersionNotFound,
  browserOfEndedInvocation,
  browserOfMissingInvocation,
  deploymentBuildGone,
  deploymentBuildMissing,
  deploymentNeverRan,
  deploymentNotFound,
  deploymentRunsAlready,
  deploymentStillBuilds,
  invocationNotFound,
  needsAsync,
  outsideSources,
  pathInSources,
  projectRunsTooManyInvocations,
  repositoryExpected,
  reservedVariables,
  scheduleNotFound,
  tooManySchedules,
  variableNameExpected,
} from "./apps.ts";
export {
  addressNeedsToken,
  credentialProviderNameTaken,
  credentialProviderNotFound,
  ownProviderTypes,
  unknownProviderType,
} from "./credential-providers.ts";
export {
  checkIntervalTooShort,
  connectionExists,
  connectionNotFound,
  handoffExpired,
  handoffTokenExpired,
  handoffUnknown,
  loginAsksNothing,
  loginInProgress,
  noLogin,
  profileUsedByConnection,
  providerNotFound,
  proxyUsedByConnection,
  unfitAnswer,
} from "./connections.ts";
export {
  credentialNameTaken,
  credentialNotFound,
  invalidDomain,
  invalidTotpSecret,
  maxCredentialValues,
  noTotpSecret,
  tooManyValues,
} from "./credentials.ts";
export { unreadableArchive, unsafeEntry, unsafeReasons, type UnsafeReason } from "./archives.ts";
export {
  contentTooLarge,
  destinationIsDirectory,
  directoryMissing,
  directoryReplaces,
  downloadNotFinished,
  downloadNotFound,
  downloadWithoutFile,
  linkLoop,
  modeForbids,
  movedIntoItself,
  nameProblem,
  notADirectory,
  notAFile,
  ownerUnchangeable,
  parentNotADirectory,
  pathMissing,
  pathProblem,
  protectedPath,
} from "./files.ts";
export { profileHasWriter, profileNameTaken, profileNotFound, profileUsedByBrowser } from "./profiles.ts";
export {
  lastActiveProject,
  needsOrganizationKey,
  poolLimitUnsupported,
  projectNameTaken,
  projectNotEmpty,
  projectNotFound,
} from "./projects.ts";
export {
  browserEnded,
  browserHasProfile,
  browserNameTaken,
  browserNotFound,
  gpuUnavailable,
  projectSessionsExhausted,
  regionUnavailable,
  viewportTooLarge,
} from "./sessions.ts";
export {
  destinationBelowFile,
  duplicatePart,
  fileExpected,
  fileParts,
  partIndexTooHigh,
  partRequired,
  sameDestination,
  textExpected,
  unknownPart,
  zipParts,
} from "./uploads.ts";
export {
  invalidWebhookUrl,
  maxWebhooks,
  tooManyWebhooks,
  webhookDeliveryNotFound,
  webhookDisabled,
  webhookNotFound,
} from "./webhooks.ts";
export {
  foreignEventId,
  tooManyWatches,
  watchNotFound,
  watchedPathMissing,
  watchedPathNotADirectory,
} from "./files.ts";
