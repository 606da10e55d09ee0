export {
  defineEndpoint,
  json,
  optionalJson,
  multipart,
  bytes,
  page,
  tokenPage,
  eventStream,
  empty,
  type Method,
  type Plane,
  type JsonContent,
  type BytesContent,
  type EmptyContent,
  type JsonBody,
  type JsonBodyOptions,
  type MultipartBody,
  type PageContent,
  type TokenPageContent,
  type EventStreamContent,
  type RequestBody,
  type ResponseContent,
  type Endpoint,
  type Page,
  type TokenPage,
  type BytesInput,
  type RequestOf,
  type MultipartInput,
  type ResultOf,
  type EventOf,
  type CheckedRequestOf,
  type ItemOf,
  type ErrorBodyOf,
  type Contract,
} from "./endpoint.ts";
export { createApiKey, listApiKeys, getApiKey, updateApiKey, deleteApiKey, rotateApiKey } from "./api-keys.ts";
export {
  readFile,
  writeFile,
  listFiles,
  createDirectory,
  deleteFile,
  deleteDirectory,
  setFilePermissions,
  getFileInfo,
  movePath,
  uploadFiles,
  uploadZip,
  downloadDirZip,
  startWatch,
  watchEvents,
  stopWatch,
} from "./browser-fs.ts";
export {
  clickMouse,
  moveMouse,
  captureScreenshot,
  typeText,
  pressKey,
  scroll,
  dragMouse,
  setCursorVisibility,
  batchComputerActions,
  getMousePosition,
  readClipboard,
  writeClipboard,
} from "./browser-computer.ts";
export { executePlaywright } from "./browser-playwright.ts";
export {
  execProcess,
  spawnProcess,
  getProcessStatus,
  streamProcessOutput,
  writeProcessStdin,
  killProcess,
  resizeProcessTerminal,
} from "./browser-process.ts";
export { streamBrowserLogs } from "./browser-logs.ts";
export { listTelemetryEvents, streamTelemetry } from "./browser-telemetry.ts";
export { startReplay, listReplays, downloadReplay, markReplay, stopReplay } from "./browser-replays.ts";
export { createBrowser, listBrowsers, getBrowser, updateBrowser, extendBrowser, deleteBrowser, curl, loadExtensions } from "./browsers.ts";
export {
  createProfile,
  listProfiles,
  getProfile,
  updateProfile,
  deleteProfile,
  downloadProfile,
  listProfileVersions,
  rollbackProfile,
  cloneProfile,
  getStorageState,
  importStorageState,
  saveBrowserProfile,
} from "./profiles.ts";
export { listApps } from "./apps.ts";
export { createDeployment, listDeployments, getDeployment, deleteDeployment, followDeployment } from "./deployments.ts";
export {
  createInvocation,
  listInvocations,
  getInvocation,
  updateInvocation,
  followInvocation,
  listInvocationBrowsers,
  deleteInvocationBrowsers,
} from "./invocations.ts";
export { createCredential, listCredentials, getCredential, updateCredential, deleteCredential, getTotpCode } from "./credentials.ts";
export {
  createCredentialProvider,
  listCredentialProviders,
  getCredentialProvider,
  updateCredentialProvider,
  deleteCredentialProvider,
  testCredentialProvider,
  listCredentialProviderItems,
} from "./credential-providers.ts";
export {
  createAuthConnection,
  listAuthConnections,
  getAuthConnection,
  updateAuthConnection,
  deleteAuthConnection,
  startLogin,
  submitLogin,
  followLogin,
  listTimeline,
  exchangeHandoff,
} from "./managed-auth.ts";
export { createProxy, listProxies, getProxy, updateProxy, deleteProxy, checkProxy } from "./proxies.ts";
export { uploadExtension, listExtensions, getExtension, downloadExtension, downloadExtensionFromChromeStore, deleteExtension } from "./extensions.ts";
export {
  createBrowserPool,
  listBrowserPools,
  getBrowserPool,
  updateBrowserPool,
  deleteBrowserPool,
  acquireBrowser,
  releaseBrowser,
  flushBrowserPool,
} from "./browser-pools.ts";
export { createProject, listProjects, getProject, updateProject, deleteProject, getProjectLimits, updateProjectLimits } from "./projects.ts";
export {
  createProjectLegacy,
  listProjectsLegacy,
  getProjectLegacy,
  updateProjectLegacy,
  deleteProjectLegacy,
  getProjectLimitsLegacy,
  updateProjectLimitsLegacy,
} from "./legacy-projects.ts";
export { getOrgLimits, updateOrgLimits, getOrgEntitlements } from "./organization.ts";
export { getAuthContext } from "./auth-context.ts";
export { listAuditLogs, exportAuditLogsChunk, verifyAuditLogs } from "./audit-logs.ts";
export {
  createAuditLogExportDestination,
  listAuditLogExportDestinations,
  getAuditLogExportDestination,
  updateAuditLogExportDestination,
  deleteAuditLogExportDestination,
  testAuditLogExportDestination,
} from "./audit-log-destinations.ts";
export {
  createOtlpDestination,
  listOtlpDestinations,
  getOtlpDestination,
  updateOtlpDestination,
  deleteOtlpDestination,
} from "./telemetry-destinations.ts";
export { getHealth, getReadiness, getOpenApi } from "./service.ts";
export { contract } from "./contract.ts";
/** The operations on a session's files and directory watches, by their names. */
export * as browserFs from "./browser-fs.ts";
export * as browserComputer from "./browser-computer.ts";
export * as browserLogs from "./browser-logs.ts";
export * as browserReplays from "./browser-replays.ts";
export * as browserProcess from "./browser-process.ts";
