// Identifiers. Threads, turns and user messages are UUIDv7, so that they sort by the time they were made.
import { v4, v7 } from 'uuid';

export const newId = (): string => v7();
export const newRandomId = (): string => v4();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (text: string): boolean => UUID.test(text);
