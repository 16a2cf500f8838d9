// Accounts and rate limits. Without an account every answer is true and empty.
import * as z from 'zod';
import { WorkspaceRouting } from './primitives.ts';
import { type Infer, schema } from './schema.ts';

export const Account = schema(() => z.looseObject({}));
export type Account = Infer<typeof Account>;

export const RateLimitSnapshot = schema(() => z.looseObject({}));
export type RateLimitSnapshot = Infer<typeof RateLimitSnapshot>;

export const AccountRateLimitsUpdatedNotification = schema(() => z.object({ rateLimits: RateLimitSnapshot() }));
export type AccountRateLimitsUpdatedNotification = Infer<typeof AccountRateLimitsUpdatedNotification>;

export const GetAccountParams = schema(() => z.object({ refreshToken: z.boolean().nullish() }));
export type GetAccountParams = Infer<typeof GetAccountParams>;

export const GetAccountResponse = schema(() =>
  z.object({
    account: Account().nullish(),
    requiresOpenaiAuth: z.boolean(),
    userId: z.string().nullish(),
    workspaceRouting: WorkspaceRouting().nullish(),
  }),
);
export type GetAccountResponse = Infer<typeof GetAccountResponse>;

export const AccountUpdatedNotification = schema(() =>
  z.object({ authMode: z.enum(['apikey']).nullish(), planType: z.string().nullish(), reason: z.string().nullish() }),
);
export type AccountUpdatedNotification = Infer<typeof AccountUpdatedNotification>;

export const LogoutAccountResponse = schema(() => z.object({}));
export type LogoutAccountResponse = Infer<typeof LogoutAccountResponse>;

export const GetAuthStatusParams = schema(() => z.object({ includeToken: z.boolean().nullish(), refreshToken: z.boolean().nullish() }));
export type GetAuthStatusParams = Infer<typeof GetAuthStatusParams>;

export const GetAuthStatusResponse = schema(() =>
  z.object({
    authMethod: z.enum(['apikey']).nullish(),
    /** Always null: a key is never told again. */
    authToken: z.string().nullish(),
    requiresOpenaiAuth: z.boolean(),
  }),
);
export type GetAuthStatusResponse = Infer<typeof GetAuthStatusResponse>;

export const LoginAccountParams = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('apiKey'), apiKey: z.string().min(1) }),
    z.object({ type: z.literal('chatgpt') }),
  ]),
);
export type LoginAccountParams = Infer<typeof LoginAccountParams>;

export const LoginAccountResponse = schema(() => z.object({ type: z.literal('apiKey') }));
export type LoginAccountResponse = Infer<typeof LoginAccountResponse>;

export const GetAccountRateLimitsResponse = schema(() =>
  z.object({ rateLimits: RateLimitSnapshot(), rateLimitsByLimitId: z.record(z.string(), RateLimitSnapshot()).nullish() }),
);
export type GetAccountRateLimitsResponse = Infer<typeof GetAccountRateLimitsResponse>;
