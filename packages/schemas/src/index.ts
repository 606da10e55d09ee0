export { lazyObject, checked, alwaysSent, alwaysSentFields, openEnumValues, openEnum, openUnion, suggestedText, type Schema } from "./schema.ts";
export { errorCodes, ErrorDetail, ErrorBody, LimitError, type ErrorCode } from "./error.ts";
export { Timestamp, Id, DisplayName, SlugName, Tags, pageFields, DeletionStatus } from "./common.ts";
export { Since, LogEvent, ErrorEvent, HeartbeatEvent } from "./events.ts";
export {
  Profile,
  CreateProfile,
  UpdateProfile,
  ListProfiles,
  DownloadProfile,
  ProfileVersionNumber,
  ProfileVersion,
  ListProfileVersions,
  RollbackProfile,
  CloneProfile,
  StorageState,
  ImportStorageState,
} from "./profile.ts";
export { ApiKeyCreator, ApiKey, CreatedApiKey, CreateApiKey, UpdateApiKey, RotateApiKey, ListApiKeys, GetApiKey } from "./api-key.ts";
export {
  BrowserViewport,
  BrowserViewportUpdate,
  BrowserProfile,
  BrowserExtension,
  BrowserTelemetryRequest,
  BrowserTelemetry,
  BrowserPoolRef,
  BrowserUsage,
  endedReasons,
  Browser,
  CreateBrowser,
  UpdateBrowser,
  ExtendBrowser,
  ListBrowsers,
  GetBrowser,
  type EndedReason,
} from "./browser.ts";
export {
  AbsolutePath,
  FileMode,
  FileInfo,
  FilePath,
  WriteFile,
  CreateDirectory,
  DeleteDirectoryQuery,
  SetFilePermissions,
  MovePath,
  StartWatch,
  DirectoryWatch,
  FileSystemEvent,
  UploadFiles,
  UploadZip,
} from "./file-system.ts";
export { Health, Readiness } from "./service.ts";
export {
  BrowserRegionName,
  BrowserRegion,
  BrowserNetworkConfig,
  BrowserMemory,
  memorySizes,
  BrowserProxyConfig,
  BrowserProxy,
} from "./browser-network.ts";
export {
  BrowserPoolProfile,
  BrowserPoolConfig,
  BrowserPool,
  CreateBrowserPool,
  UpdateBrowserPool,
  ListBrowserPools,
  DeleteBrowserPool,
  AcquireBrowser,
  ReleaseBrowser,
} from "./browser-pool.ts";
export {
  CountryProxyConfig,
  ResidentialProxyConfig,
  MobileProxyConfig,
  CustomProxyConfig,
  CreateCustomProxyConfig,
  Proxy,
  CreateProxy,
  UpdateProxy,
  CheckProxy,
  ListProxies,
} from "./proxy.ts";
export { Extension, UploadExtension, ListExtensions, ChromeStoreExtension } from "./extension.ts";
export { Project, CreateProject, UpdateProject, ListProjects, ProjectLimits, UpdateProjectLimits } from "./project.ts";
export { OrgLimits, UpdateOrgLimits, OrgEntitlements, AuthContext } from "./organization.ts";
export {
  AuditLogEntry,
  AuditLogVerification,
  VerifyAuditLogs,
  ListAuditLogs,
  ExportAuditLogs,
  AuditLogExportDestination,
  CreateAuditLogExportDestination,
  UpdateAuditLogExportDestination,
  ListAuditLogExportDestinations,
  AuditLogExportDestinationTestResult,
} from "./audit-log.ts";
export { OtlpDestination, CreateOtlpDestination, UpdateOtlpDestination, ListOtlpDestinations } from "./telemetry-destination.ts";
export { Credential, CreateCredential, UpdateCredential, ListCredentials, TotpCode } from "./credential.ts";
export {
  CredentialProvider,
  CreateCredentialProvider,
  UpdateCredentialProvider,
  ListCredentialProviders,
  CredentialProviderItem,
  CredentialProviderItems,
  CredentialProviderTestResult,
} from "./credential-provider.ts";
export { deploymentRegions, AppAction, AppVersion, ListApps } from "./app.ts";
export {
  deploymentStatuses,
  Deployment,
  DeploymentSource,
  CreateDeployment,
  ListDeployments,
  FollowDeployment,
  DeploymentStateEvent,
  AppVersionSummaryEvent,
  DeploymentEvent,
} from "./deployment.ts";
export {
  invocationStatuses,
  Invocation,
  CreateInvocation,
  CreatedInvocation,
  UpdateInvocation,
  ListInvocations,
  FollowInvocation,
  InvocationBrowsers,
  InvocationStateEvent,
  InvocationEvent,
} from "./invocation.ts";
export { AuthField, AuthChoice, DiscoveredField, MfaOption, SignInOption, SsoButton } from "./managed-auth-flow.ts";
export {
  ProxyRef,
  CredentialRef,
  ConnectionCredential,
  ManagedAuthBrowserConfig,
  ConnectionBrowser,
  AuthConnection,
  CreateAuthConnection,
  UpdateAuthConnection,
  ListAuthConnections,
  ConnectionExistsError,
} from "./managed-auth.ts";
export {
  StartLogin,
  StartedLogin,
  SubmitLogin,
  SubmittedLogin,
  ExchangeHandoff,
  ExchangedHandoff,
  ListTimeline,
  TimelineEvent,
  ManagedAuthStateEvent,
  ManagedAuthEvent,
} from "./managed-auth-login.ts";
export { Ok } from "./ok.ts";
export {
  ClickMouse,
  MoveMouse,
  TypeText,
  PressKey,
  Scroll,
  DragMouse,
  SetCursor,
  Sleep,
  ComputerAction,
  ComputerBatch,
  ComputerBatchError,
  ScreenshotRegion,
  CaptureScreenshot,
  MousePosition,
  ClipboardText,
  WriteClipboard,
} from "./computer.ts";
export { ExecutePlaywright, PlaywrightResult } from "./playwright.ts";
export {
  ExecProcess,
  ExecResult,
  SpawnProcess,
  SpawnedProcess,
  ProcessStatus,
  WriteStdin,
  StdinResult,
  KillProcess,
  ResizeTerminal,
  ProcessStreamEvent,
} from "./process.ts";
export { StreamBrowserLogs } from "./browser-logs.ts";
export { MarkReplay, StartReplay, Replay, ReplayMark } from "./replay.ts";
export { Curl, CurlResult, CurlError } from "./curl.ts";
export { LoadExtensions } from "./load-extensions.ts";
export { TelemetryEvent, TelemetryEnvelope, telemetryCategories, ListTelemetryEvents, StreamTelemetry } from "./telemetry.ts";
export { TelemetrySource } from "./telemetry-parts.ts";
export { CallFrame, CallStack } from "./call-stack.ts";
export {
  ConsoleLogEvent,
  ConsoleErrorEvent,
  PageNavigationEvent,
  PageDomContentLoadedEvent,
  PageLoadEvent,
  PageTabOpenedEvent,
  PageLayoutShiftEvent,
  PageLcpEvent,
  PageLayoutSettledEvent,
  PageNavigationSettledEvent,
  DownloadFinishedEvent,
  InteractionClickEvent,
  InteractionKeyEvent,
  InteractionScrollSettledEvent,
} from "./telemetry-page-events.ts";
export {
  NetworkRequestEvent,
  NetworkResponseEvent,
  NetworkLoadingFailedEvent,
  NetworkIdleEvent,
  ProxyErrorEvent,
} from "./telemetry-network-events.ts";
export {
  MonitorScreenshotEvent,
  MonitorDisconnectedEvent,
  MonitorReconnectedEvent,
  MonitorReconnectFailedEvent,
  MonitorInitFailedEvent,
  ApiCallEvent,
  CdpConnectEvent,
  CdpDisconnectEvent,
  LiveViewConnectEvent,
  LiveViewDisconnectEvent,
  CaptchaSolveResultEvent,
  SystemOomKillEvent,
  ServiceCrashedEvent,
} from "./telemetry-session-events.ts";
export { TelemetryExportRequest, TelemetryExport } from "./telemetry-export.ts";
