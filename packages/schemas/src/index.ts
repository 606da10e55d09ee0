export { lazyObject, checked, openEnumValues, openEnum, type Schema } from "./schema.ts";
export { errorCodes, ErrorDetail, ErrorBody, type ErrorCode } from "./error.ts";
export { Timestamp, Id, DisplayName, SlugName, Tags, pageFields, DeletionStatus } from "./common.ts";
export { LogEvent, ErrorEvent, HeartbeatEvent } from "./events.ts";
export { Profile, CreateProfile, UpdateProfile, ListProfiles } from "./profile.ts";
export { ApiKeyCreator, ApiKey, CreatedApiKey, CreateApiKey, UpdateApiKey, RotateApiKey, ListApiKeys, GetApiKey } from "./api-key.ts";
export { BrowserViewport, BrowserViewportUpdate, BrowserProfile, BrowserExtension, BrowserTelemetryRequest, BrowserTelemetry, BrowserPoolRef, BrowserUsage, endedReasons, Browser, CreateBrowser, UpdateBrowser, ListBrowsers, GetBrowser, type EndedReason } from "./browser.ts";
export { AbsolutePath, FileMode, FileInfo, FilePath, WriteFile, CreateDirectory, DeleteDirectoryQuery, SetFilePermissions, MovePath, StartWatch, DirectoryWatch, FileSystemEvent, UploadFiles, UploadZip } from "./file-system.ts";
export { Health, Readiness } from "./service.ts";
