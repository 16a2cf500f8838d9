// The handshake.
import * as z from 'zod';
import { type Infer, schema } from './schema.ts';

export const ClientInfo = schema(() => z.object({ name: z.string(), title: z.string().nullish(), version: z.string() }));
export type ClientInfo = Infer<typeof ClientInfo>;

export const InitializeCapabilities = schema(() =>
  z.object({
    experimentalApi: z.boolean().nullish(),
    explicitGatewayOauth: z.boolean().nullish(),
    extensions: z.record(z.string(), z.unknown()).nullish(),
    mcpServerOpenaiFormElicitation: z.boolean().nullish(),
    optOutNotificationMethods: z.array(z.string()).nullish(),
    requestAttestation: z.boolean().nullish(),
    requiredHumanApproval: z.boolean().nullish(),
  }),
);
export type InitializeCapabilities = Infer<typeof InitializeCapabilities>;

export const InitializeParams = schema(() => z.object({ capabilities: InitializeCapabilities().nullish(), clientInfo: ClientInfo() }));
export type InitializeParams = Infer<typeof InitializeParams>;

export const InitializeResponse = schema(() =>
  z.object({ codexHome: z.string(), platformFamily: z.string(), platformOs: z.string(), userAgent: z.string() }),
);
export type InitializeResponse = Infer<typeof InitializeResponse>;
