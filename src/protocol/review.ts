// Code review turns.
import * as z from 'zod';
import { type Infer, schema } from './schema.ts';
import { Turn } from './turn.ts';

export const ReviewDelivery = schema(() => z.literal('inline'));
export type ReviewDelivery = Infer<typeof ReviewDelivery>;

export const ReviewTarget = schema(() =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('uncommittedChanges') }),
    z.object({ branch: z.string(), type: z.literal('baseBranch') }),
    z.object({ sha: z.string(), title: z.string().nullish(), type: z.literal('commit') }),
    z.object({ instructions: z.string(), type: z.literal('custom') }),
  ]),
);
export type ReviewTarget = Infer<typeof ReviewTarget>;

export const ReviewStartParams = schema(() =>
  z.object({ delivery: ReviewDelivery().nullish(), target: ReviewTarget(), threadId: z.string() }),
);
export type ReviewStartParams = Infer<typeof ReviewStartParams>;

export const ReviewStartResponse = schema(() => z.object({ reviewThreadId: z.string(), turn: Turn() }));
export type ReviewStartResponse = Infer<typeof ReviewStartResponse>;
