// MCP servers as a client sees them: status, elicitations.
import * as z from 'zod';
import { Resource, ResourceTemplate, Tool } from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const McpServerStatusDetail = schema(() => z.enum(['full', 'toolsAndAuthOnly']));
export type McpServerStatusDetail = Infer<typeof McpServerStatusDetail>;

export const ListMcpServerStatusParams = schema(() =>
  z.object({
    cursor: z.string().nullish(),
    detail: McpServerStatusDetail().nullish(),
    environmentId: z.string().nullish(),
    limit: z.int().min(0.0).nullish(),
    serverName: z.string().nullish(),
    threadId: z.string().nullish(),
  }),
);
export type ListMcpServerStatusParams = Infer<typeof ListMcpServerStatusParams>;

export const McpAuthStatus = schema(() => z.enum(['unknown', 'unsupported', 'notLoggedIn', 'bearerToken', 'oAuth']));
export type McpAuthStatus = Infer<typeof McpAuthStatus>;

export const McpServerConnectionStatus = schema(() =>
  z.enum(['notStarted', 'starting', 'connected', 'authenticationRequired', 'failed', 'cancelled', 'disabled']),
);
export type McpServerConnectionStatus = Infer<typeof McpServerConnectionStatus>;

export const McpServerInfo = schema(() =>
  z.object({
    description: z.string().nullish(),
    icons: z.array(z.unknown()).nullish(),
    name: z.string(),
    title: z.string().nullish(),
    version: z.string(),
    websiteUrl: z.string().nullish(),
  }),
);
export type McpServerInfo = Infer<typeof McpServerInfo>;

export const McpServerStatus = schema(() =>
  z.object({
    authStatus: McpAuthStatus(),
    environmentId: z.string().nullish(),
    httpOrigin: z.string().nullish(),
    name: z.string(),
    pluginId: z.string().nullish(),
    resourceTemplates: z.array(ResourceTemplate()),
    resources: z.array(Resource()),
    runtimeStatus: McpServerConnectionStatus().nullish(),
    serverCapabilities: z.unknown().optional(),
    serverInfo: McpServerInfo().nullish(),
    toolListMeta: z.unknown().optional(),
    tools: z.record(z.string(), Tool()),
    toolsError: z.string().nullish(),
  }),
);
export type McpServerStatus = Infer<typeof McpServerStatus>;

export const ListMcpServerStatusResponse = schema(() => z.object({ data: z.array(McpServerStatus()), nextCursor: z.string().nullish() }));
export type ListMcpServerStatusResponse = Infer<typeof ListMcpServerStatusResponse>;

export const McpElicitationSchema = schema(() => z.looseObject({}));
export type McpElicitationSchema = Infer<typeof McpElicitationSchema>;

export const McpServerElicitationAction = schema(() => z.enum(['accept', 'decline', 'cancel']));
export type McpServerElicitationAction = Infer<typeof McpServerElicitationAction>;

export const McpServerElicitationRequestParams = schema(() =>
  z.union([
    z.object({
      environmentId: z.string().nullish(),
      serverName: z.string(),
      threadId: z.string(),
      turnId: z.string().nullish(),
      _meta: z.unknown().nullish(),
      challenge: z.string(),
      description: z.string(),
      mode: z.literal('openai/userVerification'),
      title: z.string(),
    }),
    z.object({
      environmentId: z.string().nullish(),
      serverName: z.string(),
      threadId: z.string(),
      turnId: z.string().nullish(),
      _meta: z.unknown().nullish(),
      message: z.string(),
      mode: z.literal('form'),
      requestedSchema: McpElicitationSchema(),
    }),
    z.object({
      environmentId: z.string().nullish(),
      serverName: z.string(),
      threadId: z.string(),
      turnId: z.string().nullish(),
      _meta: z.unknown().nullish(),
      message: z.string(),
      mode: z.literal('openai/form'),
      requestedSchema: z.unknown(),
    }),
    z.object({
      environmentId: z.string().nullish(),
      serverName: z.string(),
      threadId: z.string(),
      turnId: z.string().nullish(),
      _meta: z.unknown().nullish(),
      message: z.string(),
      mode: z.literal('openaiForm'),
      requestedSchema: z.unknown(),
    }),
    z.object({
      environmentId: z.string().nullish(),
      serverName: z.string(),
      threadId: z.string(),
      turnId: z.string().nullish(),
      _meta: z.unknown().nullish(),
      elicitationId: z.string(),
      message: z.string(),
      mode: z.literal('url'),
      url: z.string(),
    }),
  ]),
);
export type McpServerElicitationRequestParams = Infer<typeof McpServerElicitationRequestParams>;

export const McpServerElicitationRequestResponse = schema(() =>
  z.object({ _meta: z.unknown().optional(), action: McpServerElicitationAction(), content: z.unknown().optional() }),
);
export type McpServerElicitationRequestResponse = Infer<typeof McpServerElicitationRequestResponse>;

export const McpServerOauthLoginCompletedNotification = schema(() =>
  z.object({
    error: z.string().nullish(),
    loginId: z.string().nullish(),
    name: z.string(),
    success: z.boolean(),
    threadId: z.string().nullish(),
  }),
);
export type McpServerOauthLoginCompletedNotification = Infer<typeof McpServerOauthLoginCompletedNotification>;

export const McpServerStartupFailureReason = schema(() => z.literal('reauthenticationRequired'));
export type McpServerStartupFailureReason = Infer<typeof McpServerStartupFailureReason>;

export const McpServerStartupState = schema(() => z.enum(['starting', 'ready', 'failed', 'cancelled']));
export type McpServerStartupState = Infer<typeof McpServerStartupState>;

export const McpServerStatusUpdatedNotification = schema(() =>
  z.object({
    environmentId: z.string().nullish(),
    error: z.string().nullish(),
    failureReason: McpServerStartupFailureReason().nullish(),
    name: z.string(),
    status: McpServerStartupState(),
    threadId: z.string().nullish(),
  }),
);
export type McpServerStatusUpdatedNotification = Infer<typeof McpServerStatusUpdatedNotification>;

export const McpToolCallProgressNotification = schema(() =>
  z.object({ itemId: z.string(), message: z.string(), threadId: z.string(), turnId: z.string() }),
);
export type McpToolCallProgressNotification = Infer<typeof McpToolCallProgressNotification>;

export const McpServerRefreshResponse = schema(() => z.object({}));
export type McpServerRefreshResponse = Infer<typeof McpServerRefreshResponse>;

export const McpResourceReadParams = schema(() =>
  z.object({
    _meta: z.looseObject({}).nullish(),
    environmentId: z.string().nullish(),
    originCallId: z.string().nullish(),
    server: z.string(),
    threadId: z.string().nullish(),
    uri: z.string(),
  }),
);
export type McpResourceReadParams = Infer<typeof McpResourceReadParams>;

export const McpResourceReadResponse = schema(() => z.object({ contents: z.array(z.looseObject({})), originCallId: z.string().nullish() }));
export type McpResourceReadResponse = Infer<typeof McpResourceReadResponse>;

export const McpServerToolCallParams = schema(() =>
  z.object({
    _meta: z.unknown().optional(),
    arguments: z.unknown().optional(),
    environmentId: z.string().nullish(),
    server: z.string(),
    threadId: z.string(),
    tool: z.string(),
  }),
);
export type McpServerToolCallParams = Infer<typeof McpServerToolCallParams>;

export const McpServerToolCallResponse = schema(() =>
  z.object({
    _meta: z.unknown().optional(),
    content: z.array(z.unknown()),
    isError: z.boolean().nullish(),
    structuredContent: z.unknown().optional(),
  }),
);
export type McpServerToolCallResponse = Infer<typeof McpServerToolCallResponse>;

export const McpServerOauthLoginParams = schema(() =>
  z.object({
    clientRegistration: z.enum(['auto', 'cimd', 'dcr']).nullish(),
    environmentId: z.string().nullish(),
    name: z.string(),
    scopes: z.array(z.string()).nullish(),
    threadId: z.string().nullish(),
    timeoutSecs: z.int().nullish(),
  }),
);
export type McpServerOauthLoginParams = Infer<typeof McpServerOauthLoginParams>;

export const McpServerOauthLoginResponse = schema(() => z.object({ authorizationUrl: z.string(), loginId: z.string().nullish() }));
export type McpServerOauthLoginResponse = Infer<typeof McpServerOauthLoginResponse>;
