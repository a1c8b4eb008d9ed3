"""What all experiments share: data sets, models, stored cells, confidence intervals and the style of figures."""
