import { z } from 'zod';
import { defineTool } from 'skillmill/toolbox';

/**
 * Business tools for the skill `weather-tools` (SKILLMILL_TOOLBOX=./examples/toolbox.js). Their answers are made up,
 * so that the example needs no network. The skill's own text names three of the four.
 */

const cities = ['Berlin', 'Lisbon', 'Nairobi', 'Oslo', 'Osaka'];
const city = z.string().min(1).describe('Name of a city');

export const getCurrentWeather = defineTool({
  name: 'get_current_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city }),
  execute: (args) => ({ city: args.city, celsius: 10 + (args.city.length % 15), sky: 'cloudy' }),
});

export const getWeatherForecast = defineTool({
  name: 'get_weather_forecast',
  description: 'Forecast for the coming days',
  parameters: z.object({ city, days: z.int().min(1).max(7).default(3) }),
  execute: (args) =>
    Array.from({ length: args.days }, (_, day) => ({
      day: day + 1,
      celsius: 10 + ((args.city.length + day) % 15),
    })),
});

export const searchCityByName = defineTool({
  name: 'search_city_by_name',
  description: 'Cities whose name begins with a text',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }) => cities.filter((name) => name.toLowerCase().startsWith(text.toLowerCase())),
});

export const askNameInformation = defineTool({
  name: 'ask_name_information',
  description: 'Whom to ask about a name',
  parameters: z.object({ name: z.string() }),
  execute: ({ name }) => ({ name, ask: 'the registry' }),
});
