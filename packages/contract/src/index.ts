export { defineEndpoint, json, optionalJson, multipart, bytes, page, tokenPage, eventStream, empty, type Method, type Plane, type JsonContent, type BytesContent, type EmptyContent, type JsonBody, type MultipartBody, type PageContent, type TokenPageContent, type EventStreamContent, type RequestBody, type ResponseContent, type Endpoint, type Page, type TokenPage, type BytesInput, type RequestOf, type MultipartInput, type ResultOf, type EventOf, type CheckedRequestOf, type ItemOf, type ErrorBodyOf, type Contract } from "./endpoint.ts";
export { createApiKey, listApiKeys, getApiKey, updateApiKey, deleteApiKey, rotateApiKey } from "./api-keys.ts";
export { readFile, writeFile, listFiles, createDirectory, deleteFile, deleteDirectory, setFilePermissions, getFileInfo, movePath, uploadFiles, uploadZip, downloadDirZip, startWatch, watchEvents, stopWatch } from "./browser-fs.ts";
export { createBrowser, listBrowsers, getBrowser, updateBrowser, deleteBrowser } from "./browsers.ts";
export { createProfile, listProfiles, getProfile, updateProfile, deleteProfile } from "./profiles.ts";
export { getHealth, getReadiness, getOpenApi } from "./service.ts";
export { contract } from "./contract.ts";
/** The operations on a session's files and directory watches, by their names. */
export * as browserFs from "./browser-fs.ts";
