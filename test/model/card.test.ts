import { expect, it } from 'vitest';
import { builtInModels, cardFor, type ModelSupport } from '../../src/model/card.ts';

const on = (supports: ModelSupport) =>
  Object.entries(supports)
    .filter(([, value]) => value)
    .map(([name]) => name)
    .join(' ');
const everything = 'namespaces freeform toolSearch webSearch parallelToolCalls images reasoning verbosity outputSchema';

it('[model.card.table] families are known by name; what no family matches promises little', () => {
  const rows = [
    'gpt-5.5',
    'gpt-5',
    'gpt-6.2-sol',
    'openai/gpt-5.1-codex',
    'scripted',
    'gpt-5.4',
    'mock-model',
    'o3-mini',
    'gpt-4.1',
    'claude-sonnet-4-5',
    'claude-3-5-haiku',
    'gemini-2.5-pro',
    'qwen3:8b',
    'gpt-oss:20b',
  ]
    .map((model) => cardFor(model))
    .map((card) => [card.id, card.known, card.contextWindow, on(card.supports), card.defaultEffort]);
  expect(rows).toEqual([
    ['gpt-5.5', true, 272_000, everything, 'medium'],
    ['gpt-5', true, 272_000, everything, 'medium'],
    ['gpt-6.2-sol', true, 272_000, everything, 'medium'],
    ['openai/gpt-5.1-codex', true, 272_000, everything, 'medium'],
    ['scripted', true, 272_000, everything, 'medium'],
    ['gpt-5.4', false, 128_000, 'parallelToolCalls images outputSchema', 'none'],
    ['mock-model', false, 128_000, 'parallelToolCalls images outputSchema', 'none'],
    ['o3-mini', true, 200_000, 'parallelToolCalls images reasoning outputSchema', 'medium'],
    ['gpt-4.1', true, 1_047_576, 'parallelToolCalls images outputSchema', 'none'],
    ['claude-sonnet-4-5', true, 200_000, 'parallelToolCalls images reasoning outputSchema', 'medium'],
    ['claude-3-5-haiku', true, 200_000, 'parallelToolCalls images', 'none'],
    ['gemini-2.5-pro', true, 1_048_576, 'parallelToolCalls images outputSchema', 'none'],
    ['qwen3:8b', true, 128_000, '', 'none'],
    ['gpt-oss:20b', true, 131_072, 'reasoning', 'medium'],
  ]);
});

it('[model.card.overrides] overrides win, the compaction limit follows the window, wires take away what they lack', () => {
  const card = cardFor('gpt-5.5', { wireApi: 'chat' }, { contextWindow: 1000, supports: { images: false } });
  expect([card.autoCompactTokenLimit, card.inputModalities, on(card.supports)]).toEqual([
    900,
    ['text'],
    'namespaces freeform parallelToolCalls reasoning verbosity outputSchema',
  ]);
  expect(cardFor('x', undefined, { autoCompactTokenLimit: 5 }).autoCompactTokenLimit).toBe(5);
  expect(on(cardFor('x', { wireApi: 'scripted' }).supports)).toBe(everything);
});

it('[model.card.list] the listed models are known and the first is the default', () => {
  expect(builtInModels().map((card) => [card.id, card.known])).toEqual(
    ['gpt-5.5', 'gpt-5', 'gpt-5-mini', 'gpt-4.1', 'o4-mini', 'claude-opus-4-5', 'claude-sonnet-4-5', 'scripted'].map((id) => [id, true]),
  );
});
