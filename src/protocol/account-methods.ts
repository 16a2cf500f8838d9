// The part of the method tables about accounts. Logins are those of API keys; other kinds are refused by the handler.
import {
  AccountRateLimitsUpdatedNotification,
  AccountUpdatedNotification,
  GetAccountParams,
  GetAccountRateLimitsResponse,
  GetAccountResponse,
  GetAuthStatusParams,
  GetAuthStatusResponse,
  LoginAccountParams,
  LoginAccountResponse,
  LogoutAccountResponse,
} from './account.ts';
import { None, notification, request } from './method-spec.ts';

export const accountRequests = {
  'account/read': request(GetAccountParams, GetAccountResponse, { scope: 'process' }),
  'account/login/start': request(LoginAccountParams, LoginAccountResponse, { scope: 'process' }),
  'account/logout': request(None, LogoutAccountResponse, { scope: 'process' }),
  'account/rateLimits/read': request(None, GetAccountRateLimitsResponse, { scope: 'process' }),
  /** The older way to ask; clients still use it. */
  getAuthStatus: request(GetAuthStatusParams, GetAuthStatusResponse, { scope: 'process' }),
} as const;

export const accountNotifications = {
  'account/rateLimits/updated': notification(AccountRateLimitsUpdatedNotification, 'process'),
  'account/updated': notification(AccountUpdatedNotification, 'process'),
} as const;
