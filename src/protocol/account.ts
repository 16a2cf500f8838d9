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
